"""Remarks on inputs."""

from django.db import transaction
from django.utils.translation import gettext as _

from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.models import Comment, Survey
from delivery.surveys.services.permissions import require_filling
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import User


@transaction.atomic
def add_comment(*, actor: User, survey: Survey, name: str, text: str, is_internal: bool = False
                ) -> Comment:
    """A remark on one input; internal ones are for the firm only. Writes an audit entry."""
    require_filling(actor, survey.engagement)
    cell = Sheet(survey).cells.get(name)
    if cell is None:
        raise InvalidInput(_("There is no such question in this survey."))
    if not text.strip() or len(text) > 2000:
        raise InvalidInput(_("Write a comment of at most 2000 characters."))
    comment = Comment.objects.create(
        survey=survey, question=cell.question, model=cell.model, author=actor,
        text=text.strip(), is_internal=is_internal and not actor.is_reviewer)
    audit_log.record(actor=actor, action="survey.comment", target=comment,
                     engagement=survey.engagement, data={"input": name})
    return comment
