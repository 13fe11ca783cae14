"""Taking a begun survey over to a newer version of the questionnaire."""

from django.db import transaction
from django.utils.translation import gettext as _

from delivery.surveys.models import Comment, Questionnaire, Survey
from delivery.surveys.services.publishing import current_questionnaire
from delivery.surveys.services.version_transfer import Transfer, transfer
from delivery.surveys.transitions import locked
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import WrongState
from engagements.models import User


@transaction.atomic
def move_to_version(*, actor: User, survey: Survey, version: int) -> Transfer:
    """Ask the questions of the newest version from now on; answers and comments go along.

    Answers that fit no question any more stay stored and are listed (`versioning.set_aside`).

    Args:
        version: the newest version as the actor's page showed it.
    Raises:
        WrongState: the survey is not a draft, has that version already, or a newer one came.
        NotAllowed: customers and other engagements.
    """
    require(actor, Can.WORK, survey.engagement)
    survey, target = locked(survey), current_questionnaire()
    _require_movable(survey, target, version)
    before, found = survey.questionnaire, transfer(survey, target)
    for answer, question in found.kept:
        answer.question = question
        answer.save(update_fields=["question"])
    _move_comments(survey, target)
    survey.questionnaire = target
    survey.save(update_fields=["questionnaire"])
    audit_log.record(actor=actor, action="survey.version", target=survey,
                     engagement=survey.engagement, data={
                         "from": before.version, "to": target.version, "kept": len(found.kept),
                         "added": [question.key for question in found.added],
                         "removed": [question.key for question in found.removed],
                         "aside": [answer.question.key for answer in found.aside]})
    return found


def _require_movable(survey: Survey, target: Questionnaire, version: int) -> None:
    if survey.state != Survey.State.DRAFT:
        raise WrongState(_("The survey is %(state)s. Reopen it before changing its questions.")
                         % {"state": survey.get_state_display()})
    if survey.questionnaire_id == target.pk:
        raise WrongState(_("The survey already has the latest questions."))
    if target.version != version:
        raise WrongState(_("Version %(version)d of the questionnaire was published meanwhile; "
                           "review its changes.") % {"version": target.version})


def _move_comments(survey: Survey, target: Questionnaire) -> None:
    new = {question.key: question for question in target.questions.all()}
    for comment in Comment.objects.filter(survey=survey).select_related("question"):
        if comment.question.key in new:
            comment.question = new[comment.question.key]
            comment.save(update_fields=["question"])
