"""Issued documents as triggers of a plan's milestones."""

from django.urls import reverse

from delivery.planning.plan.trigger_documents import TriggerDocument, register_trigger_documents
from delivery.reports.models import Document
from engagements.models import Engagement, User


@register_trigger_documents
def issued_documents(user: User, engagement: Engagement) -> dict[str, TriggerDocument]:
    """The newest issued or signed document of each kind that the user may see."""
    issued = Document.objects.visible_to(user).filter(
        engagement=engagement, state__in=["issued", "signed"]).order_by("pk")
    return {document.kind: TriggerDocument(
        document.number, reverse("reports:document", args=[document.pk])) for document in issued}
