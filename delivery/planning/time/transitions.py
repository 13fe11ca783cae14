"""The way of a timesheet that a manager put to the customer."""

from collections.abc import Callable

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from delivery.planning.models import Timesheet
from engagements.access import Can
from engagements.models import User
from engagements.transitions import TransitionTable, transition

State = Timesheet.State


class TimesheetMove(models.TextChoices):
    """The customer's two answers, and the firm's way back."""

    CONFIRM = "confirm"
    REJECT = "reject"
    WITHDRAW = "withdraw"


def _confirm(sheet: Timesheet, actor: User, _reason: str) -> dict:
    sheet.answered_by, sheet.answered_at = actor, timezone.now()
    return {"reason": ""}


def _free(column: str) -> Callable:
    """Its entries are free again; the column keeps the reason."""

    def free_entries(sheet: Timesheet, actor: User, reason: str) -> dict:
        _confirm(sheet, actor, reason)
        setattr(sheet, column, reason.strip())
        sheet.entries.update(timesheet=None)
        return {"reason": reason.strip()}

    return free_entries


TRANSITIONS = TransitionTable({
    TimesheetMove.CONFIRM: transition(
        State.SUBMITTED, to=State.CONFIRMED, by=Can.REVIEW, effect=_confirm,
        label=_("Confirm the timesheet"),
        audit=("timesheet.confirm", _("Timesheet confirmed"))),
    TimesheetMove.REJECT: transition(
        State.SUBMITTED, to=State.REJECTED, by=Can.REVIEW, needs_reason=True,
        effect=_free("rejection"),
                                     label=_("Reject"),
                                     audit=("timesheet.reject", _("Timesheet rejected"))),
    TimesheetMove.WITHDRAW: transition(
        State.SUBMITTED, to=State.WITHDRAWN, by=Can.MANAGE, needs_reason=True,
        effect=_free("withdrawal"),
                                       label=_("Withdraw"),
                                       audit=("timesheet.withdraw", _("Timesheet withdrawn"))),
})
