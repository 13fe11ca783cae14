"""The way of a timesheet that a manager put to the customer."""

from django.db import models

from delivery.planning.models import Timesheet
from engagements.access import Can
from engagements.transitions import TransitionTable, transition

State = Timesheet.State


class TimesheetMove(models.TextChoices):
    """The customer's two answers, and the firm's way back."""

    CONFIRM = "confirm"
    REJECT = "reject"
    WITHDRAW = "withdraw"


TRANSITIONS = TransitionTable({
    TimesheetMove.CONFIRM: transition(State.SUBMITTED, to=State.CONFIRMED, by=Can.REVIEW),
    TimesheetMove.REJECT: transition(State.SUBMITTED, to=State.REJECTED, by=Can.REVIEW,
                                     needs_reason=True),
    TimesheetMove.WITHDRAW: transition(State.SUBMITTED, to=State.WITHDRAWN, by=Can.MANAGE,
                                       needs_reason=True),
})
