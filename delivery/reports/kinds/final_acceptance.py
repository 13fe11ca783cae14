"""Final acceptance certificate: the form of DOMAIN 9.9."""

from collections.abc import Iterator

from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from delivery.reports.facts.acceptance_terms import group, meetings, payments, warranty
from delivery.reports.facts.source import Source, source_of
from delivery.reports.facts.trial_run import closure, trial
from delivery.reports.facts.verdicts import judged_pictures, judged_records
from delivery.reports.issue_checks import verdict_checks
from delivery.reports.kinds.test_report import JUDGED_RULES
from delivery.reports.models import Document
from delivery.reports.office.writers import annex_xlsx, document_docx
from delivery.reports.registry import Block, DocumentKind, Problem, Section, register
from engagements.access import Can

FORM = (
    Section("project", _("Parties and subject"), ("part:project", "part:models_in_scope")),
    Section("references", _("Basis of acceptance"), ("part:basis",)),
    Section("results", _("Results by model and criterion")),
    Section("conclusion", _("Conclusion of acceptance")),
    Section("effects", _("Payment and warranty"), ("table:payments", "table:warranty")),
    Section("receipt", _("Receipt"), ("part:receipt_state",)),
    Section("opinions", _("Opinions of both parties")),
    Section("signatures", _("Signatures and seals"), ("part:signatures", "part:annex_list")),
)
ANNEXES = (
    Section("deliverables", _("Check of the deliverables"),
            ("part:deliverables", "table:deliverables"), starts_page=True),
    Section("issues", _("Outstanding issues"),
            ("part:open_points", "part:unpassed", "table:issues", "part:departures",
             "part:comments"), starts_page=True),
    Section("environment", _("Environment, method and organisation"),
            ("part:environment", "table:group", "table:meetings", "words:witnessed",
             "table:third_party"),
            starts_page=True),
    Section("history", _("Sign-off and history"), starts_page=True),
)

OWN = ("issues", "third_party", "deliverables")  # tables; all others are the test report's
WRITERS = {"docx": document_docx, "xlsx": annex_xlsx}
WITNESSED = Block(
    "witnessed", _("Tests that the customer witnessed"), is_required=False,
    hint=_("Which tests, on which day, who was there for either side; leave it empty if none."))
TRIAL = Section("trial", _("Trial run and closure of the provisional acceptance"),
                ("table:trial", "words:fa_trial", "table:closure"), starts_page=True)


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
        **{key: judged["tables"][key] for key in OWN}, "group": group(source),
        "meetings": meetings(source), "payments": payments(source)}}


def trial_described(document: Document) -> Iterator[Problem]:
    """After a trial run its result is written."""
    is_written = document.words.get("fa_trial", {}).get("zh", "").strip()
    if trial(source_of(document))["rows"] and not is_written:
        yield Problem(gettext("Write the result of the trial run."),
                      reverse("reports:texts", args=[document.pk]))


register(DocumentKind(
    "FA", _("Final acceptance certificate"),
    _("The customer decides on it, criterion by criterion, and signs. It releases the last "
      "payment and starts the warranty."),
    FORM, facts, annexes=(TRIAL, *ANNEXES), has_front_pages=False,
    blocks=(WITNESSED, Block("fa_trial", _("Result of the trial run"), is_required=False,
                  hint=_("What ran, how long, with which result; what was repaired.")),),
    rules=(*JUDGED_RULES, verdict_checks.no_severe_issue, trial_described), written_by=Can.ISSUE,
    is_accepted=True, is_judged=True, records=records, writers=WRITERS,
))
