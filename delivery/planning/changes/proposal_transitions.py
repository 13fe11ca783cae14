"""The way of a change proposal: raised by the customer, answered by the firm."""

from django.db import models

from delivery.planning.models import ChangeProposal
from engagements.access import Can
from engagements.transitions import TransitionTable, transition

State = ChangeProposal.State


class ProposalMove(models.TextChoices):
    """Values are the names of the API's endpoints and of the page's addresses."""

    CONVERT = "convert"
    ANSWER = "answer"
    DECLINE = "decline"
    WITHDRAW = "withdraw"


def _is_author(user, proposal: ChangeProposal) -> bool:
    return user.is_reviewer and proposal.created_by_id == user.pk


TRANSITIONS = TransitionTable({
    ProposalMove.CONVERT: transition(State.OPEN, to=State.CONVERTED, by=Can.WORK),
    ProposalMove.ANSWER: transition(State.OPEN, to=State.ANSWERED, by=Can.WORK,
                                    needs_reason=True),
    ProposalMove.DECLINE: transition(State.OPEN, to=State.DECLINED, by=Can.MANAGE,
                                     needs_reason=True),
    ProposalMove.WITHDRAW: transition(State.OPEN, to=State.WITHDRAWN, by=_is_author),
})
