"""Preconditions shared by several services of a review."""

from django.db.models import QuerySet

from delivery.acceptance.models import Condition, Review
from delivery.acceptance.review.transitions import TRANSITIONS
from engagements.models import User
from engagements.moves import require_move

PASSING = (Review.Decision.ACCEPTED, Review.Decision.CONDITIONAL, Review.Decision.DEEMED)


def lock_review(review: Review) -> Review:
    """The review's row as it is now, locked until the transaction ends."""
    return Review.objects.select_for_update(of=("self",), no_key=True).select_related(
        "document__engagement").get(pk=review.pk)


def lock_for_action(actor: User, review: Review, action: str) -> Review:
    """The locked row, once the table lets the actor do it."""
    review = lock_review(review)
    require_move(actor, TRANSITIONS, review, action)
    return review


def open_blocking(review: Review) -> QuerySet[Condition]:
    """The issues of a review that hold up the final acceptance and are not closed."""
    return review.conditions.filter(closed_at=None, effect=Condition.Effect.BLOCKS)
