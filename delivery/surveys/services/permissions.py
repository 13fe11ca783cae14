"""Who may answer a survey, and its row under lock."""

from delivery.surveys.models import Survey
from engagements.access import Can, allowed, require
from engagements.models import Engagement, User


def require_filling(actor: User, engagement: Engagement) -> None:
    """Consultants, managers and the customer's reviewer of this engagement may answer."""
    require(actor, Can.REVIEW if allowed(actor, Can.REVIEW) else Can.WORK, engagement)


def may_fill(user: User) -> bool:
    """Whether the user's role may answer questions."""
    return allowed(user, Can.WORK) or allowed(user, Can.REVIEW)


def locked(survey: Survey) -> Survey:
    """The survey's locked row. Call it inside the transaction of the write."""
    return Survey.objects.select_for_update(of=("self",), no_key=True).select_related(
        "engagement", "questionnaire").get(pk=survey.pk)
