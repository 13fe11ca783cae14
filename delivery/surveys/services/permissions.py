"""Who may answer a survey."""

from engagements.access import Can, allowed, require
from engagements.models import Engagement, User


def require_filling(actor: User, engagement: Engagement) -> None:
    """Consultants, managers and the customer's reviewer of this engagement may answer."""
    require(actor, Can.REVIEW if allowed(actor, Can.REVIEW) else Can.WORK, engagement)


def may_fill(user: User) -> bool:
    """Whether the user's role may answer questions."""
    return allowed(user, Can.WORK) or allowed(user, Can.REVIEW)
