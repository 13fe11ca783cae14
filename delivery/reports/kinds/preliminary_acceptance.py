"""Provisional acceptance certificate (DOMAIN 9.9, 10): starts the trial run."""

from django.utils.translation import gettext_lazy as _

from delivery.reports.facts.judged import judged_facts
from delivery.reports.facts.planning import issues
from delivery.reports.kinds.final_acceptance import FORM
from delivery.reports.kinds.test_report import ANNEXES, JUDGED_RULES
from delivery.reports.registry import Block, DocumentKind, Section, register
from delivery.reports.source import Source
from delivery.reports.writers import document_docx
from engagements.access import Can

CHANGED = {
    "issues": Section("issues", _("Outstanding issues"), (
        "part:unpassed", "table:issues", "part:departures"), is_wide=True),
    "conclusion": Section("conclusion", _("Conclusion of acceptance"),
                          ("part:conclusion", "words:pa_effect")),
}


def facts(source: Source) -> dict:
    """Verdicts, and the issues that go into the trial run."""
    return {**judged_facts(source), "tables": {"issues": issues(source)}}


register(DocumentKind(
    "PA", _("Preliminary acceptance certificate"),
    _("Functions and criteria shown on the agreed environment; starts the trial run."),
    tuple(CHANGED.get(section.id, section) for section in FORM),
    facts, annexes=ANNEXES, blocks=(Block("pa_effect", _("Effect of the preliminary acceptance")),),
    rules=JUDGED_RULES, written_by=Can.ISSUE, is_judged=True, writers={"docx": document_docx},
))
