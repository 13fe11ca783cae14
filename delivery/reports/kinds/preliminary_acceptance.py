"""Provisional acceptance certificate (DOMAIN 9.9, 10): starts the trial run."""

from django.utils.translation import gettext_lazy as _

from delivery.reports.facts.verdicts import judged_facts, judged_records
from delivery.reports.kinds.final_acceptance import FORM
from delivery.reports.kinds.test_report import ANNEXES, JUDGED_RULES
from delivery.reports.office.writers import document_docx
from delivery.reports.registry import Block, DocumentKind, Section, register
from engagements.access import Can

CHANGED = {
    "conclusion": Section("conclusion", _("Conclusion of acceptance"),
                          ("part:conclusion", "words:pa_effect")),
}


register(DocumentKind(
    "PA", _("Provisional acceptance certificate"),
    _("Functions and criteria shown on the agreed environment; starts the trial run."),
    tuple(CHANGED.get(section.id, section) for section in FORM),
    judged_facts, annexes=ANNEXES,
    blocks=(Block("pa_effect", _("Effect of the provisional acceptance")),),
    rules=JUDGED_RULES, written_by=Can.ISSUE, is_judged=True, records=judged_records,
    writers={"docx": document_docx},
))
