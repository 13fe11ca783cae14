"""Final acceptance certificate: the form of DOMAIN 9.9."""

from collections.abc import Iterator

from django.urls import reverse
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from delivery.reports.facts.acceptance_terms import group, meetings, payments, warranty
from delivery.reports.facts.source import Source
from delivery.reports.facts.trial_run import closure, trial
from delivery.reports.facts.verdicts import judged_pictures, judged_records
from delivery.reports.issue_checks import verdict_checks
from delivery.reports.kinds.test_report import JUDGED_RULES
from delivery.reports.models import Document
from delivery.reports.office.writers import annex_xlsx, document_docx
from delivery.reports.registry import Block, DocumentKind, Problem, Section, register
from engagements.access import Can

FORM = (
    Section("project", _("Project"), starts_page=True),
    Section("references", _("Basis of acceptance"), ("part:references", "table:third_party")),
    Section("scope", _("Scope and content of acceptance"), ("part:models_in_scope",)),
    Section("environment", _("Environment, method and organisation"),
            ("part:environment", "table:group", "table:meetings", "words:witnessed",
             "table:environments", "table:conditions", "table:planned")),
    Section("deliverables", _("Check of the deliverables"),
            ("part:deliverables", "table:deliverables")),
    Section("results", _("Results by item"), ("part:results", "table:coverage", "part:files_used")),
    Section("issues", _("Outstanding issues"), (
        "part:unpassed", "table:issues", "part:open_points", "part:departures",
        "table:examined", "part:deviations"), is_wide=True),
    Section("conclusion", _("Conclusion of acceptance")),
    Section("effects", _("Payment and warranty"), ("table:payments", "table:warranty")),
    Section("opinions", _("Opinions of both parties")),
    Section("signatures", _("Signatures and seals")),
)

WRITERS = {"docx": document_docx, "xlsx": annex_xlsx}
WITNESSED = Block(
    "witnessed", _("Tests that the customer witnessed"), is_required=False,
    hint=_("Which tests, on which day, who was there for either side; leave it empty if none."))
TRIAL = Section("trial", _("Trial run and closure of the provisional acceptance"),
                ("table:trial", "words:fa_trial", "table:closure"), is_wide=True)


def facts(source: Source) -> dict:
    """What every document on verdicts shows, the trial run, and what its conditions came to."""
    return {**records(source), **judged_pictures(source)}


def records(source: Source) -> dict:
    """The part of the facts that stands in rows."""
    judged = certified(source)
    return {**judged, "tables": {**judged["tables"], "trial": trial(source),
                                 "closure": closure(source), "warranty": warranty(source)}}


def certified(source: Source) -> dict:
    """What both certificates say beside the verdicts: who accepts, and what is paid."""
    judged = judged_records(source)
    return {**judged, "tables": {
        **judged["tables"], "group": group(source), "meetings": meetings(source),
        "payments": payments(source)}}


def trial_described(document: Document) -> Iterator[Problem]:
    """After a trial run its result is written."""
    is_written = document.words.get("fa_trial", {}).get("zh", "").strip()
    if trial(Source(document))["rows"] and not is_written:
        yield Problem(_now("Write the result of the trial run."),
                      reverse("reports:texts", args=[document.pk]))


def before(name: str, added: Section) -> tuple[Section, ...]:
    """The chapters of the form with one more in front of the named one."""
    at = [section.id for section in FORM].index(name)
    return (*FORM[:at], added, *FORM[at:])


register(DocumentKind(
    "FA", _("Final acceptance certificate"),
    _("The customer decides on it, criterion by criterion, and signs. It releases the last "
      "payment and starts the warranty."),
    before("issues", TRIAL), facts,
    blocks=(WITNESSED, Block("fa_trial", _("Result of the trial run"), is_required=False,
                  hint=_("What ran, how long, with which result; what was repaired.")),),
    rules=(*JUDGED_RULES, verdict_checks.no_severe_issue, trial_described), written_by=Can.ISSUE,
    is_accepted=True, is_judged=True, records=records, writers=WRITERS,
))
