"""The trial run after the provisional acceptance, and how its conditions ended (DOMAIN 9.9)."""

from django.utils import timezone
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from delivery.documents.bilingual import both, in_language, named
from delivery.documents.tables.table import column, table
from delivery.planning.models import ProjectIssue
from delivery.reports.facts.agreed_deliverables import missing
from delivery.reports.facts.source import Source
from delivery.reports.models import Document
from engagements.remembered_reads import remembered
from engagements.text.printable_text import printable_facts
from engagements.text.text_joining import listed

OTHER_CRITERIA = gettext_lazy(
    "Since this certificate was issued other criteria were agreed on; it would be signed under the "
    "earlier ones. Draft its next version.")
PASSING = ("accepted", "conditional", "deemed")  # decisions that begin a trial run


@remembered
def certificate_of(source: Source) -> Document | None:
    """The newest provisional acceptance that began a trial run."""
    return Document.objects.filter(
        engagement=source.engagement, kind="PA", review__decision__in=PASSING,
        review__trial_ends_on__isnull=False,
    ).exclude(state=Document.State.SUPERSEDED).select_related("review").order_by("-pk").first()


def trial(source: Source) -> dict:
    """Certificate, decision, first and last day, and the issues that were raised in between."""
    found = certificate_of(source)
    rows = [_row(source, found)] if found else []
    return table(lambda: _("Trial run"), [
        column(lambda: _("Provisional acceptance certificate")), column(lambda: _("Decision")),
        column(lambda: _("Start"), "day", is_required=True),
        column(lambda: _("End"), "day", is_required=True),
        column(lambda: _("Issues raised"), "number"), column(lambda: _("Still open"), "number"),
        column(lambda: _("Days"))],
                 rows, empty=lambda: _("There was no trial run."))


def outdated(document: Document) -> str:
    """Why an issued final certificate no longer tells what is so; "" if it does.

    It was issued before the trial period ended, issues were raised or closed since, what it lists
    as missing was handed over, or other criteria were agreed on.
    """
    source = Source(document)
    if document.has_former_criteria:
        return str(OTHER_CRITERIA)
    found, tables = certificate_of(source), document.snapshot.get("tables", {})
    if found and document.issued_at and (
            timezone.localdate(document.issued_at) < found.review.trial_ends_on):
        return _("This certificate was issued before the trial period ended on %(day)s and cannot "
                 "tell how it went. Draft its next version.") % {
            "day": found.review.trial_ends_on.isoformat()}
    if any(tables.get(key) != printable_facts(made(source)) for key, made in TABLES.items()):
        return _("Since this certificate was issued the issues of the trial run or of the "
                 "provisional acceptance have changed; it would be signed with an old state. "
                 "Draft its next version.")
    still = printable_facts([both(label) for label in missing(source)])
    handed_over = [in_language(label, get_language()) for label in
                   document.snapshot.get("missing_deliverables") or () if label not in still]
    return _("This certificate lists as missing what was handed over since it was issued: "
             "%(names)s. Draft its next version.") % {
        "names": listed(handed_over)} if handed_over else ""


def _row(source: Source, document: Document) -> list:
    review = document.review
    start, end = timezone.localdate(review.decided_at), review.trial_ends_on
    raised = ProjectIssue.objects.filter(engagement=source.engagement,
                                         raised_on__range=(start, end))
    return [document.number, both(review.get_decision_display), f"{start}", f"{end}",
            raised.count(), raised.filter(closed_on=None).count(),
            f"{(end - start).days}" if end > start else both(
                lambda: f"0 – {_('There was no trial run.')}")]


def closure(source: Source) -> dict:
    """Outstanding issues of the provisional acceptance: who, by when, what was done, closed; and
    every issue of the project that is open still, whatever was agreed as a condition."""
    found = certificate_of(source)
    conditions = found.review.conditions.select_related("model", "closed_by") if found else []
    issues = source.engagement.project_issues.filter(closed_on=None).select_related(
        "model", "owner").order_by("number") if found else []
    return table(lambda: _("Issues of the provisional acceptance"), [
        column(lambda: _("No."), "number"), column(lambda: _("Outstanding issue")),
        column(lambda: _("Model"), "code"), column(lambda: _("Responsible")),
        column(lambda: _("Due"), "day"), column(lambda: _("Effect on the final acceptance")),
        column(lambda: _("What was done")), column(lambda: _("Closed on"), "day"),
        column(lambda: _("Closed by"))],
                 [[n, c.description, c.model.code if c.model else "–", c.owner, f"{c.due_on}",
                   both(c.get_effect_display), c.report,
                   f"{timezone.localdate(c.closed_at)}" if c.closed_at else both(lambda: _("open")),
                   named(c.closed_by)] for n, c in enumerate(conditions, 1)] + [
                      [issue.number, f"{issue}", issue.model.code if issue.model else "–",
                       named(issue.owner), f"{issue.due_on}", both(lambda i=issue: (
                           _("closed before the final acceptance") if i.affects_final
                           else _("does not hold up the final acceptance"))),
                       "", both(lambda: _("open")), ""]
                      for issue in issues],
                 empty=lambda: _("The provisional acceptance left no issue open.") if found
                 else _("No provisional acceptance was concluded."))


TABLES = {"trial": trial, "closure": closure}  # tables of the final certificate
