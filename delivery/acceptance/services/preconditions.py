"""Preconditions shared by several services of a review."""

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from delivery.acceptance.models import Condition, Review
from delivery.reports.models import Document
from engagements.access import Can, require
from engagements.errors import NotAllowed, WrongState
from engagements.models import Engagement, User

PASSING = (Review.Decision.ACCEPTED, Review.Decision.CONDITIONAL, Review.Decision.DEEMED)


def lock_review(review: Review) -> Review:
    """The review's row as it is now, locked until the transaction ends."""
    return Review.objects.select_for_update(of=("self",), no_key=True).select_related(
        "document__engagement").get(pk=review.pk)


def require_reviewer(actor: User, review: Review) -> None:
    """Only reviewers who are members of the engagement decide and sign (AR-11)."""
    engagement = review.document.engagement
    require(actor, Can.REVIEW, engagement)
    require_member(actor, engagement)


def require_member(actor: User, engagement: Engagement) -> None:
    """Raise NotAllowed unless the person is a member of the engagement."""
    if not engagement.memberships.filter(user=actor).exists():
        raise NotAllowed(_("You are not a member of this engagement."))


def require_issued(review: Review) -> None:
    """Raise WrongState once the document is signed or replaced."""
    if review.document.state != Document.State.ISSUED:
        raise WrongState(_("This document is signed or was replaced; nothing is added to it."))


def open_blocking(review: Review) -> QuerySet[Condition]:
    """The issues of a review that hold up the final acceptance and are not closed."""
    return review.conditions.filter(closed_at=None, effect=Condition.Effect.BLOCKS)
