"""The way of a change request (DOMAIN 9.10, 9.11): put to both sides, decided by each, reported."""

from django.db import models
from django.utils.translation import gettext as _

from delivery.planning.models import ChangeRequest
from engagements.access import Can, allowed
from engagements.errors import NotAllowed, WrongState
from engagements.models import User
from engagements.transitions import TransitionTable, transition

State = ChangeRequest.State


class ChangeMove(models.TextChoices):
    """Values are the names of the API's endpoints and of the page's addresses."""

    SUBMIT = "submit"
    APPROVE = "approve"
    REJECT = "reject"
    RESULT = "result"


def side_of(user: User) -> str:
    """The side on which the user decides; also the prefix of its columns."""
    return "customer" if allowed(user, Can.REVIEW) else "firm"


def _not_by_author(user: User, change: ChangeRequest) -> None:
    if side_of(user) == "firm" and change.created_by_id == user.pk:
        raise NotAllowed(_("You wrote this change request; somebody else must decide on it."))


def _side_is_open(user: User, change: ChangeRequest) -> None:
    if getattr(change, f"{side_of(user)}_approved_at"):
        raise WrongState(_("This side has approved already."))


_SIDES = (Can.MANAGE, Can.REVIEW)
TRANSITIONS = TransitionTable({
    ChangeMove.SUBMIT: transition(State.DRAFT, to=State.SUBMITTED, by=Can.WORK),
    ChangeMove.APPROVE: transition(State.SUBMITTED, to=State.APPLIED, by=_SIDES,
                                   guards=(_not_by_author, _side_is_open)),
    ChangeMove.REJECT: transition(State.SUBMITTED, to=State.REJECTED, by=_SIDES,
                                  guards=(_not_by_author,), needs_reason=True),
    ChangeMove.RESULT: transition(State.APPLIED, by=Can.WORK),
})
