"""The way of a weekly report: written and counted anew until a manager freezes it."""

from django.db import models

from delivery.planning.models import WeeklyReport
from engagements.access import Can
from engagements.transitions import TransitionTable, transition

State = WeeklyReport.State


class WeeklyMove(models.TextChoices):
    """Values are the names of the API's endpoints; `update` is its PATCH."""

    UPDATE = "update"
    REFRESH = "refresh"
    FREEZE = "freeze"


TRANSITIONS = TransitionTable({
    WeeklyMove.UPDATE: transition(State.DRAFT, by=Can.WORK),
    WeeklyMove.REFRESH: transition(State.DRAFT, by=Can.WORK),
    WeeklyMove.FREEZE: transition(State.DRAFT, to=State.FROZEN, by=Can.MANAGE),
})
