"""Provisional acceptance certificate (DOMAIN 9.9, 10): starts the trial run."""

from django.utils.translation import gettext_lazy as _

from delivery.reports.facts.source import Source
from delivery.reports.facts.verdicts import judged_pictures
from delivery.reports.kinds.final_acceptance import (
    ANNEXES,
    FORM,
    WITNESSED,
    WRITERS,
    certified,
)
from delivery.reports.kinds.test_report import JUDGED_RULES
from delivery.reports.registry import Block, DocumentKind, Section, register
from engagements.access import Can

CHANGED = {
    "effects": Section("effects", _("Payment"), ("table:payments",)),
    "conclusion": Section("conclusion", _("Conclusion of acceptance"),
                          ("part:conclusion", "words:pa_effect")),
}


def facts(source: Source) -> dict:
    """What both certificates show."""
    return {**certified(source), **judged_pictures(source)}


register(DocumentKind(
    "PA", _("Provisional acceptance certificate"),
    _("Functions and criteria shown on the agreed environment; starts the trial run."),
    tuple(CHANGED.get(section.id, section) for section in FORM),
    facts, annexes=ANNEXES, has_front_pages=False,
    blocks=(WITNESSED, Block("pa_effect", _("Effect of the provisional acceptance")),),
    rules=JUDGED_RULES, written_by=Can.ISSUE, is_accepted=True, is_judged=True,
    records=certified, writers=WRITERS,
))
