"""The steps of a survey: begun, handed in, confirmed, reopened."""

from functools import partial

from django.db import transaction

from delivery.surveys.models import Survey
from delivery.surveys.services.permissions import require_filling
from delivery.surveys.services.publishing import load_standard_questionnaire
from delivery.surveys.transitions import TRANSITIONS, SurveyMove
from engagements.audit import audit_log
from engagements.models import Engagement, User
from engagements.moves import make_move


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


def move_survey(*, actor: User, survey: Survey, move: str) -> Survey:
    """Submit the answers, confirm them, or reopen the survey, which withdraws a confirmation.

    A confirmed survey starts the survey stage of each model that stands before it.

    Raises InvalidInput while required answers are missing, and for another move.
    """
    return make_move(actor=actor, table=TRANSITIONS, subject=survey, move=move)


submit_survey = partial(move_survey, move=SurveyMove.SUBMIT)
confirm_survey = partial(move_survey, move=SurveyMove.CONFIRM)
reopen_survey = partial(move_survey, move=SurveyMove.REOPEN)
