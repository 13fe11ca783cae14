"""The steps of a survey: handed in by either side, confirmed or reopened by the firm."""

from django.db import models

from delivery.surveys.models import Survey
from engagements.access import Can
from engagements.transitions import TransitionTable, transition

State = Survey.State


class SurveyMove(models.TextChoices):
    """Values are the words of the REST API and of the page's addresses."""

    SUBMIT = "submit"
    CONFIRM = "confirm"
    REOPEN = "reopen"


TRANSITIONS = TransitionTable({
    SurveyMove.SUBMIT: transition(State.DRAFT, to=State.SUBMITTED, by=(Can.WORK, Can.REVIEW)),
    SurveyMove.CONFIRM: transition(State.SUBMITTED, to=State.CONFIRMED, by=Can.WORK),
    SurveyMove.REOPEN: transition(State.SUBMITTED, State.CONFIRMED, to=State.DRAFT, by=Can.WORK),
})
