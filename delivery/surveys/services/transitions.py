"""The steps of a survey: begun, handed in, confirmed, reopened."""

from functools import partial

from django.db import transaction
from django.utils import timezone
from django.utils.translation import ngettext

from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.models import Survey
from delivery.surveys.services.permissions import locked, require_filling
from delivery.surveys.services.publishing import load_standard_questionnaire
from delivery.surveys.transitions import TRANSITIONS, SurveyMove
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import Engagement, StageRecord, User
from engagements.moves import require_move
from engagements.services import follow_decision
from engagements.stages import SURVEY_CONFIRMED, Stage, StageMove


@transaction.atomic
def start_survey(*, actor: User, engagement: Engagement) -> Survey:
    """The engagement's survey, begun with the newest questionnaire. Writes an audit entry."""
    require_filling(actor, engagement)
    Engagement.objects.select_for_update(of=("self",), no_key=True).get(pk=engagement.pk)
    existing = Survey.objects.filter(engagement=engagement).first()
    if existing:
        return existing
    survey = Survey.objects.create(engagement=engagement,
                                   questionnaire=load_standard_questionnaire())
    audit_log.record(actor=actor, action="survey.start", target=survey, engagement=engagement)
    return survey


@transaction.atomic
def move_survey(*, actor: User, survey: Survey, move: str) -> Survey:
    """Submit the answers, confirm them, or reopen the survey, which withdraws a confirmation.

    A confirmed survey starts the survey stage of each model that stands before it.

    Raises InvalidInput while required answers are missing, and for another move.
    """
    survey = locked(survey)
    require_move(actor, TRANSITIONS, survey, move)
    survey.state = TRANSITIONS[move].target
    if survey.state != Survey.State.DRAFT:
        _require_complete(survey)
    if survey.state == Survey.State.SUBMITTED:
        survey.submitted_by, survey.submitted_at = actor, timezone.now()
    survey.confirmed_by, survey.confirmed_at = None, None
    if survey.state == Survey.State.CONFIRMED:
        _start_stages(actor, survey.engagement)
        # Not before the stages began: their start is then no longer undone.
        survey.confirmed_by, survey.confirmed_at = actor, timezone.now()
    survey.save()
    audit_log.record(actor=actor, action=f"survey.{move}", target=survey,
                     engagement=survey.engagement)
    return survey


submit_survey = partial(move_survey, move=SurveyMove.SUBMIT)
confirm_survey = partial(move_survey, move=SurveyMove.CONFIRM)
reopen_survey = partial(move_survey, move=SurveyMove.REOPEN)


def _start_stages(actor: User, engagement: Engagement) -> None:
    for record in StageRecord.objects.filter(
            model__in=engagement.models.current(), stage=Stage.SURVEY):
        follow_decision(actor=actor, record=record, move=StageMove.START,
                        reason=SURVEY_CONFIRMED)


def _require_complete(survey: Survey) -> None:
    missing = Sheet(survey).missing
    if missing:
        raise InvalidInput(ngettext(
            "%(n)d required answer is missing: %(first)s.",
            "%(n)d required answers are missing, first: %(first)s.", len(missing)) % {
            "n": len(missing), "first": missing[0].question.localized_label})
