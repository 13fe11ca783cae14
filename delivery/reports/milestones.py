"""Issued documents as triggers of a plan's milestones; those that the customer accepts are
registered with acceptance."""

from delivery.planning.models import Milestone
from delivery.planning.plan.trigger_documents import (
    Trigger,
    TriggerDocument,
    register_trigger,
)
from delivery.reports.models import Document
from engagements.addresses import address

ISSUED = {"TR": Milestone.Trigger.TEST_REPORT, "MP": Milestone.Trigger.PLAN}  # by kind
CERTIFICATES = {"PA": Milestone.Trigger.PRELIMINARY, "FA": Milestone.Trigger.ACCEPTANCE}
TRIGGERS = {**ISSUED, **CERTIFICATES}  # what a plan's milestones call documents of a kind


def trigger_of(document: Document) -> TriggerDocument:
    """The document as what triggered a milestone."""
    return TriggerDocument(document.number, address("reports:document", document.pk))


for _kind, _code in ISSUED.items():
    register_trigger(Trigger(
        _code, lambda kind=_kind: Document.objects.in_force().without_facts().filter(
            kind=kind).order_by("pk"), "engagement", trigger_of))
