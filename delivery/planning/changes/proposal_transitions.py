"""The way of a change proposal: raised by the customer, answered by the firm."""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from delivery.planning.models import ChangeProposal
from engagements.access import Can
from engagements.models import Engagement, User
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


def _locked(proposal: ChangeProposal) -> ChangeProposal:
    Engagement.objects.select_for_update(of=("self",), no_key=True).get(pk=proposal.engagement_id)
    return ChangeProposal.objects.select_for_update(of=("self",), no_key=True).select_related(
        "engagement__customer", "created_by").get(pk=proposal.pk)


def _answer(proposal: ChangeProposal, actor: User, answer: str) -> dict:
    proposal.answer = answer.strip()
    proposal.answered_by, proposal.answered_at = actor, timezone.now()
    return {"answer": proposal.answer}


TRANSITIONS = TransitionTable({
    ProposalMove.CONVERT: transition(  # with the change request that `convert_proposal` drafts
        State.OPEN, to=State.CONVERTED, by=Can.WORK,
        label=_("Draft the change request"),
        audit=("change_proposal.convert", _("Change request drafted from a proposal"))),
    ProposalMove.ANSWER: transition(
        State.OPEN, to=State.ANSWERED, by=Can.WORK, needs_reason=True, effect=_answer,
        label=_("Send the answer"),
        audit=("change_proposal.answer", _("Change proposal answered"))),
    ProposalMove.DECLINE: transition(
        State.OPEN, to=State.DECLINED, by=Can.MANAGE, needs_reason=True, effect=_answer,
        label=pgettext_lazy("a proposal", "Decline"),
        audit=("change_proposal.decline", _("Change proposal declined"))),
    ProposalMove.WITHDRAW: transition(
        State.OPEN, to=State.WITHDRAWN, by=_is_author,
        label=_("Withdraw"),
        audit=("change_proposal.withdraw", _("Change proposal withdrawn"))),
}, lock=_locked)
