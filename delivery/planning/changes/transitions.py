"""The way of a change request (DOMAIN 9.10, 9.11): put to both sides, decided by each, reported."""

from collections.abc import Mapping

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from delivery.planning.models import ChangeRequest
from engagements import duties
from engagements.access import Can, allowed
from engagements.duties import Duty
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import Engagement, User
from engagements.transitions import TransitionTable, transition

State = ChangeRequest.State


class ChangeMove(models.TextChoices):
    """Values are the names of the API's endpoints and of the page's addresses."""

    SUBMIT = "submit"
    APPROVE = "approve"
    REJECT = "reject"
    WITHDRAW = "withdraw"
    RESULT = "result"


def side_of(user: User) -> str:
    """The side on which the user decides; also the prefix of its columns."""
    return "customer" if allowed(user, Can.REVIEW) else "firm"


def _done_by(change: ChangeRequest) -> Mapping[Duty, set]:
    return {Duty.AUTHOR: {change.created_by_id}, Duty.REVIEWER: {change.customer_approved_by_id},
            Duty.APPROVER: {change.firm_approved_by_id}}


def _steps(_change: ChangeRequest) -> list[duties.Step]:
    return [duties.Step(Duty.REVIEWER, _("Approval by the customer"),
                        lambda user: allowed(user, Can.REVIEW)),
            duties.Step(Duty.APPROVER, _("Approval by the firm"),
                        lambda user: allowed(user, Can.MANAGE))]


DUTIES = duties.register(duties.DutyRule(
    code="change", title=gettext_lazy("Change requests"), done_by=_done_by, steps=_steps))


def _is_separated(user: User, change: ChangeRequest) -> None:
    """Both sides decide, and neither of them wrote it."""
    duty = Duty.REVIEWER if side_of(user) == "customer" else Duty.APPROVER
    duties.require_separated(DUTIES, user, change, duty)


def _side_is_open(user: User, change: ChangeRequest) -> None:
    if getattr(change, f"{side_of(user)}_approved_at"):
        raise WrongState(_("This party has already approved."))


def _is_author(user: User, change: ChangeRequest) -> None:
    if change.created_by_id != user.pk:
        raise NotAllowed(_("Only the author of a change request can withdraw it; others can "
                           "reject it."))


def _locked(change: ChangeRequest) -> ChangeRequest:
    lock_engagement(change)
    return ChangeRequest.objects.select_for_update(of=("self",), no_key=True).get(pk=change.pk)


def lock_engagement(change: ChangeRequest) -> None:
    """Lock the engagement before its change: what comes into force locks further rows of it."""
    Engagement.objects.select_for_update(of=("self",), no_key=True).get(pk=change.engagement_id)


def _reject(change: ChangeRequest, actor: User, reason: str) -> dict:
    change.rejected_by, change.rejection = actor, reason.strip()
    return {"reason": change.rejection}


def _withdraw(change: ChangeRequest, _actor: User, _reason: str) -> dict:
    """It is a draft again, without any approval."""
    approved = [side for side in ("firm", "customer") if getattr(change, f"{side}_approved_at")]
    for side in approved:
        setattr(change, f"{side}_approved_by", None)
        setattr(change, f"{side}_approved_at", None)
    change.facts, change.content_hash, change.submitted_at = {}, "", None
    return {"approved_by": approved}


def _keep_result(change: ChangeRequest, actor: User, result: str) -> dict:
    if not result.strip():
        raise InvalidInput(_("Describe how the change was implemented and the result."))
    change.result, change.result_by = result.strip(), actor
    change.result_at = timezone.now()
    return {"result": change.result}


_SIDES = (Can.MANAGE, Can.REVIEW)
# What submission freezes and what the second approval puts in force: `services/changes.py`.
TRANSITIONS = TransitionTable({
    ChangeMove.SUBMIT: transition(
        State.DRAFT, to=State.SUBMITTED, by=Can.WORK,
        label=gettext_lazy("Submit to both sides"),
        audit=("change.submit", gettext_lazy("Change request submitted"))),
    ChangeMove.APPROVE: transition(
        State.SUBMITTED, to=State.APPLIED, by=_SIDES, guards=(_is_separated, _side_is_open),
        label=gettext_lazy("Approve"),
        audit=("change.apply", gettext_lazy("Change put in force"))),
    ChangeMove.REJECT: transition(
        State.SUBMITTED, to=State.REJECTED, by=_SIDES, guards=(_is_separated,),
        needs_reason=True, effect=_reject,
        label=gettext_lazy("Reject"),
        audit=("change.reject", gettext_lazy("Change rejected"))),
    ChangeMove.WITHDRAW: transition(
        State.SUBMITTED, to=State.DRAFT, by=Can.WORK, guards=(_is_author,), effect=_withdraw,
        label=gettext_lazy("Undo"),
        audit=("change.withdraw", gettext_lazy("Change request withdrawn"))),
    ChangeMove.RESULT: transition(
        State.APPLIED, by=Can.WORK, effect=_keep_result,
        audit=("change.result", gettext_lazy("Change: result recorded"))),
}, lock=_locked)
