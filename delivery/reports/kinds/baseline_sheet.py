"""Baseline sheet that both parties confirm (DOMAIN AR-04)."""

from collections.abc import Iterator

from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from assessments.services.baselines import drifted
from delivery.reports.facts import agreement_sheets
from delivery.reports.facts.source import Source, source_of
from delivery.reports.issue_checks import checks
from delivery.reports.models import Document
from delivery.reports.office.writers import document_xlsx
from delivery.reports.registry import Block, DocumentKind, Problem, Section, register


def facts(source: Source) -> dict:
    """Baselines, repeats, raw files and confirmations."""
    ids = {f for b in source.baselines for f in [b.artifact_id, *b.runs.values_list(
        "artifact_id", flat=True)]}
    return {
        "evidence": [row for row in source.evidence if row["id"] in ids],
        "tables": {"baselines": agreement_sheets.baselines(source),
                   "repeats": agreement_sheets.repeats(source),
                   "files": agreement_sheets.baseline_files(source),
                   "confirmed": agreement_sheets.confirmed(source)}}


def no_drift(document: Document) -> Iterator[Problem]:
    """A re-measurement outside the recorded spread contradicts the baseline."""
    for baseline in source_of(document).baselines:
        for run in drifted(baseline):
            yield Problem(
                gettext("%(baseline)s: a re-measurement (%(value)s) lies outside the recorded "
                     "spread.") % {"baseline": baseline, "value": f"{run.value:.6g}"},
                reverse("assessments:baseline", args=[baseline.pk]))


def frozen(document: Document) -> Iterator[Problem]:
    """Every baseline is confirmed by both sides or frozen by signed criteria."""
    for baseline in source_of(document).baselines:
        if baseline.frozen_at is None:
            yield Problem(gettext("%(baseline)s is not confirmed by both sides.")
                          % {"baseline": baseline},
                          reverse("assessments:baseline", args=[baseline.pk]))


register(DocumentKind(
    "BL", _("Baseline sheet"),
    _("Reference values with hardware, software, repeats and raw files."),
    (
        Section("project", _("Project"), starts_page=True),
        Section("statement", _("What is confirmed"), ("words:bl_statement",)),
        Section("baselines", _("Baselines"), ("table:baselines", "table:repeats"), is_wide=True),
        Section("files", _("Raw files and confirmations"), ("table:files", "table:confirmed")),
        Section("signatures", _("Signatures and seals")),
    ),
    facts, blocks=(Block("bl_statement", _("What both parties confirm")),),
    rules=(
        checks.contract,
        checks.needs("tables.baselines.rows", lambda: _("Record a baseline."),
                     "assessments:criteria"),
        frozen, no_drift,
    ),
    writers={"xlsx": document_xlsx},
))
