"""Preconditions shared by several services of a review."""

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from delivery.acceptance.models import Condition, Review
from delivery.acceptance.review.transitions import TRANSITIONS, refusal, state_of
from engagements.access import Can, allowed, require
from engagements.errors import NotAllowed, WrongState
from engagements.models import Engagement, User

PASSING = (Review.Decision.ACCEPTED, Review.Decision.CONDITIONAL, Review.Decision.DEEMED)


def lock_review(review: Review) -> Review:
    """The review's row as it is now, locked until the transaction ends."""
    return Review.objects.select_for_update(of=("self",), no_key=True).select_related(
        "document__engagement").get(pk=review.pk)


def require_permission(actor: User, review: Review, action: str) -> None:
    """Raise NotAllowed unless the actor's role has a permission of the action's rule."""
    permissions = TRANSITIONS[action].permissions
    held = next((one for one in permissions if allowed(actor, one)), permissions[0])
    if held == Can.REVIEW:
        require_reviewer(actor, review)
    else:
        require(actor, held, review.document.engagement)


def require_state(review: Review, action: str) -> None:
    """Raise WrongState unless the review's state allows the action."""
    state = state_of(review)
    if state not in TRANSITIONS[action].states:
        raise WrongState(refusal(action, state))


def require_action(actor: User, review: Review, action: str) -> None:
    """Require permission and state of an action, on the row as it was read."""
    require_permission(actor, review, action)
    require_state(review, action)


def lock_for_action(actor: User, review: Review, action: str) -> Review:
    """Require permission and state of an action. Returns the locked row."""
    require_permission(actor, review, action)
    review = lock_review(review)
    require_state(review, action)
    return review


def require_reviewer(actor: User, review: Review) -> None:
    """Only reviewers who are members of the engagement decide and sign (AR-11)."""
    engagement = review.document.engagement
    require(actor, Can.REVIEW, engagement)
    require_member(actor, engagement)


def require_member(actor: User, engagement: Engagement) -> None:
    """Raise NotAllowed unless the person is a member of the engagement."""
    if not engagement.memberships.filter(user=actor).exists():
        raise NotAllowed(_("You are not a member of this engagement."))


def open_blocking(review: Review) -> QuerySet[Condition]:
    """The issues of a review that hold up the final acceptance and are not closed."""
    return review.conditions.filter(closed_at=None, effect=Condition.Effect.BLOCKS)
