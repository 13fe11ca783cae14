"""The steps of a survey: handed in by either side, confirmed or reopened by the firm."""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.models import Survey
from engagements.access import Can
from engagements.errors import InvalidInput
from engagements.models import StageRecord, User
from engagements.services import follow_decision
from engagements.stages import SURVEY_CONFIRMED, Stage, StageMove
from engagements.transitions import TransitionTable, transition

State = Survey.State


class SurveyMove(models.TextChoices):
    """Values are the words of the REST API and of the page's addresses."""

    SUBMIT = "submit"
    CONFIRM = "confirm"
    REOPEN = "reopen"


def locked(survey: Survey) -> Survey:
    """The survey's locked row. Call it inside the transaction of the write."""
    return Survey.objects.select_for_update(of=("self",), no_key=True).select_related(
        "engagement", "questionnaire").get(pk=survey.pk)


def _submit(survey: Survey, actor: User, _reason: str) -> None:
    _require_complete(survey)
    survey.submitted_by, survey.submitted_at = actor, timezone.now()
    survey.confirmed_by, survey.confirmed_at = None, None


def _require_complete(survey: Survey) -> None:
    missing = Sheet(survey).missing
    if missing:
        raise InvalidInput(ngettext(
            "%(n)d required answer is missing: %(first)s.",
            "%(n)d required answers are missing, first: %(first)s.", len(missing)) % {
            "n": len(missing), "first": missing[0].question.localized_label})


def _confirm(survey: Survey, actor: User, _reason: str) -> None:
    """Starts the survey stage of each model that stands before it."""
    _require_complete(survey)
    for record in StageRecord.objects.filter(
            model__in=survey.engagement.models.current(), stage=Stage.SURVEY):
        follow_decision(actor=actor, record=record, move=StageMove.START,
                        reason=SURVEY_CONFIRMED)
    # Not before the stages began: their start is then no longer undone.
    survey.confirmed_by, survey.confirmed_at = actor, timezone.now()


def _reopen(survey: Survey, _actor: User, _reason: str) -> None:
    survey.confirmed_by, survey.confirmed_at = None, None


TRANSITIONS = TransitionTable({
    SurveyMove.SUBMIT: transition(
        State.DRAFT, to=State.SUBMITTED, by=(Can.WORK, Can.REVIEW), effect=_submit,
        label=_("Submit"),
        audit=("survey.submit", _("Survey submitted"))),
    SurveyMove.CONFIRM: transition(
        State.SUBMITTED, to=State.CONFIRMED, by=Can.WORK, effect=_confirm,
        label=_("Confirm"),
        audit=("survey.confirm", _("Survey confirmed"))),
    SurveyMove.REOPEN: transition(
        State.SUBMITTED, State.CONFIRMED, to=State.DRAFT, by=Can.WORK, effect=_reopen,
        label=_("Reopen"),
        audit=("survey.reopen", _("Survey reopened"))),
}, lock=locked)
