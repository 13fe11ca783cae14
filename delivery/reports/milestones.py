"""Issued documents as triggers of a plan's milestones; those that the customer accepts are
registered with acceptance."""

from django.urls import reverse

from delivery.planning.models import Milestone
from delivery.planning.plan.trigger_documents import TriggerDocument, register_trigger_documents
from delivery.reports import registry
from delivery.reports.models import Document
from engagements.models import Engagement, User

TRIGGERS = {"PA": Milestone.Trigger.PRELIMINARY, "MP": Milestone.Trigger.PLAN}  # by kind


@register_trigger_documents
def issued_documents(user: User, engagement: Engagement) -> dict[str, TriggerDocument]:
    """The newest issued document of each kind that the user may see."""
    issued = Document.objects.visible_to(user).in_force().without_facts().filter(
        engagement=engagement).exclude(kind__in=registry.accepted_kinds()).order_by("pk")
    return {trigger_code(document.kind): trigger_of(document) for document in issued}


def trigger_code(kind: str) -> str:
    """What a plan's milestone calls documents of a kind."""
    return TRIGGERS.get(kind, kind)


def trigger_of(document: Document) -> TriggerDocument:
    """The document as what triggered a milestone."""
    return TriggerDocument(document.number, reverse("reports:document", args=[document.pk]))
