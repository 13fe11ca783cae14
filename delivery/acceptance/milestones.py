"""Certificates as triggers of a plan's milestones: signed, passed, and no condition open that holds
up payment."""

from delivery.acceptance.models import Review
from delivery.planning.plan.trigger_documents import TriggerDocument, register_trigger_documents
from delivery.reports.milestones import trigger_code, trigger_of
from delivery.reports.models import Document
from engagements.models import Engagement, User


@register_trigger_documents
def accepted_certificates(user: User, engagement: Engagement) -> dict[str, TriggerDocument]:
    """The newest certificate of each kind that the user may see and that releases a payment."""
    reviews = Review.objects.visible_to(user).filter(
        document__engagement=engagement, document__state__in=Document.IN_FORCE,
        decision__in=Review.PASSING).select_related("document").order_by("document_id")
    return {trigger_code(review.document.kind): trigger_of(review.document) for review in reviews
            if releases_payment(review)}


def releases_payment(review: Review) -> bool:
    """Whether a passing decision is signed, or deemed, and nothing blocking is open."""
    is_concluded = (review.decision == Review.Decision.DEEMED
                    or review.document.state == Document.State.SIGNED)
    return is_concluded and not review.open_blocking().exists()
