"""The steps of a survey: begun, handed in, confirmed, reopened."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.models import Survey
from delivery.surveys.services.permissions import locked, require_filling
from delivery.surveys.services.publishing import load_standard_questionnaire
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, User


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


def submit_survey(*, actor: User, survey: Survey) -> Survey:
    """Hand the answers in. Raises InvalidInput while required answers are missing."""
    require_filling(actor, survey.engagement)
    return _move(actor, survey, "submit", Survey.State.DRAFT, Survey.State.SUBMITTED)


def confirm_survey(*, actor: User, survey: Survey) -> Survey:
    """The consultant's confirmation; the survey stage's gate asks for it."""
    require(actor, Can.WORK, survey.engagement)
    return _move(actor, survey, "confirm", Survey.State.SUBMITTED, Survey.State.CONFIRMED)


def reopen_survey(*, actor: User, survey: Survey) -> Survey:
    """Back to a draft, so that answers can change; a confirmation is withdrawn."""
    require(actor, Can.WORK, survey.engagement)
    return _move(actor, survey, "reopen", None, Survey.State.DRAFT)


MOVES = {"submit": submit_survey, "confirm": confirm_survey, "reopen": reopen_survey}


def move_survey(*, actor: User, survey: Survey, move: str) -> Survey:
    """Submit, confirm or reopen by name. Raises InvalidInput for another name."""
    if move not in MOVES:
        raise InvalidInput(_("There is no such step."))
    return MOVES[move](actor=actor, survey=survey)


@transaction.atomic
def _move(actor: User, survey: Survey, move: str, needed: str | None, target: str) -> Survey:
    survey = locked(survey)
    if survey.state == target or (needed and survey.state != needed):
        raise WrongState(_("The survey is %(state)s: this step is not possible now.")
                         % {"state": survey.get_state_display()})
    if target != Survey.State.DRAFT:
        _require_complete(survey)
    survey.state, now = target, timezone.now()
    if target == Survey.State.SUBMITTED:
        survey.submitted_by, survey.submitted_at = actor, now
    is_confirmed = target == Survey.State.CONFIRMED
    survey.confirmed_by, survey.confirmed_at = (actor, now) if is_confirmed else (None, None)
    survey.save()
    audit_log.record(actor=actor, action=f"survey.{move}", target=survey,
                     engagement=survey.engagement)
    return survey


def _require_complete(survey: Survey) -> None:
    missing = Sheet(survey).missing
    if missing:
        raise InvalidInput(ngettext(
            "%(n)d required answer is missing: %(first)s.",
            "%(n)d required answers are missing, first: %(first)s.", len(missing)) % {
            "n": len(missing), "first": missing[0].question.localized_label})
