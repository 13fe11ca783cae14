"""What stands against an acceptance although the criteria may be passed."""

from collections.abc import Iterator

from django.utils.translation import gettext as _

from delivery.documents.bilingual import both
from delivery.planning.models import Milestone, ProjectIssue
from delivery.reports.facts.agreed_deliverables import missing
from delivery.reports.facts.source import Source
from delivery.reports.facts.trial_run import certificate_of
from delivery.reports.facts.waivers_and_omissions import deliverable_code, issue_code
from engagements.text.text_joining import listed

SEVERE = (ProjectIssue.Level.BLOCKING, ProjectIssue.Level.MAJOR)


def open_points(source: Source) -> list[dict[str, str]]:
    """Sentences in both languages; empty where nothing of this stands against an acceptance. What
    the customer let pass by a waiver is none of it: the conclusion names that."""
    return [both(sentence) for sentence in _sentences(source)]


def _sentences(source: Source) -> Iterator:
    issues, lacking = _severe_issues(source), missing(source)
    waived = source.engagement.blocker_waivers.codes_in_force(
        source.engagement) if issues or lacking else frozenset()
    for issue in (row for row in issues if issue_code(row) not in waived):
        yield lambda issue=issue: _("Issue %(number)s (%(level)s) is open: %(text)s") % {
            "number": f"I-{issue.number:03}", "level": issue.get_level_display(),
            "text": issue.description}
    if _lacks_preliminary(source):
        yield lambda: _("A provisional acceptance is agreed, and none was concluded.")
    if lacking := [label for label in lacking if deliverable_code(both(label)) not in waived]:
        yield lambda: _("Agreed deliverables still missing: %(names)s.") % {
            "names": listed(label() for label in lacking)}
    if (ends_on := source.agreement.value("ends_on")) and f"{source.today}" > ends_on:
        yield lambda: _("The period of the contract ended on %(day)s.") % {"day": ends_on}


def _severe_issues(source: Source) -> list[ProjectIssue]:
    """Open issues that are blocking or major, or that hold up the final acceptance."""
    rows = source.engagement.project_issues.filter(closed_on=None).order_by("number")
    return [row for row in rows if row.level in SEVERE or row.affects_final]


def _lacks_preliminary(source: Source) -> bool:
    """Whether terms or a payment ask for a provisional acceptance that was never concluded."""
    terms = getattr(source.engagement, "acceptance_terms", None)
    is_agreed = bool(terms and terms.has_preliminary) or Milestone.objects.filter(
        plan__engagement=source.engagement, trigger=Milestone.Trigger.PRELIMINARY).exists()
    return (is_agreed and source.document.kind != "PA" and certificate_of(source) is None)
