"""Saving answers: what is valid and not overtaken is stored, the rest is reported."""

from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.surveys.answer_sheet import Cell, Sheet
from delivery.surveys.answer_values import parse_value, show_value
from delivery.surveys.models import Answer, AnswerRevision, Survey
from delivery.surveys.services.permissions import require_filling
from delivery.surveys.transitions import locked
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import MigratedModel, User
from toolreaders.number_parsing import whole_number
from workers.models import Artifact


@dataclass(frozen=True)
class Change:
    """One input as a person sent it; `revision` is the one they had before them."""

    name: str
    raw: Any
    revision: int


@dataclass(frozen=True)
class Conflict:
    """An input that somebody else changed meanwhile: both values, and who wrote the stored one."""

    cell: Cell
    yours: str
    raw: Any


@dataclass
class Saved:
    """What came of a set of changes; errors and conflicts were not written."""

    names: list[str] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    errors: dict[str, str] = field(default_factory=dict)


@transaction.atomic
def save_answers(*, actor: User, survey: Survey, changes: list[Change]) -> Saved:
    """Store what is valid and not overtaken; return what was refused and why.

    An input is overtaken when its stored revision is newer than the one sent and the value sent
    differs both from what is stored and from what the sender had before them.
    Raises WrongState unless the survey is a draft; NotAllowed.
    """
    require_filling(actor, survey.engagement)
    survey = locked(survey)
    if survey.state != Survey.State.DRAFT:
        raise WrongState(_("The survey is %(state)s. Reopen it before changing answers.")
                         % {"state": survey.get_state_display()})
    sheet, saved, accepted = Sheet(survey), Saved(), {}
    for change in changes:
        cell = sheet.cells.get(change.name)
        if cell is None:
            saved.errors[change.name] = _("There is no such question in this survey.")
        elif change.name not in accepted and (found := _accepted(survey, cell, change, saved)):
            accepted[change.name] = found
    written = {name: [cell.value, value] for name, (cell, value) in accepted.items()}
    if written:
        _store(actor, survey, list(accepted.values()))
        saved.names = list(written)
        audit_log.record(actor=actor, action="survey.answer", target=survey,
                         engagement=survey.engagement, data=written)
    return saved


def copy_answers(*, actor: User, survey: Survey, source: MigratedModel, target: MigratedModel
                 ) -> Saved:
    """Give a model the answers of another one where it has none yet; nothing is overwritten.

    Raises as `save_answers`; writes its audit entry.
    """
    cells = Sheet(survey).cells
    changes = []
    for cell in cells.values():
        there = cells.get(f"{cell.question.key}@{target.code}")
        if (cell.model == source and cell.value is not None and there and there.answer is None
                and cell.question.key not in OF_ONE_MODEL):
            changes.append(Change(there.name, cell.value, 0))
    return save_answers(actor=actor, survey=survey, changes=changes)


# What no two models share.
OF_ONE_MODEL = frozenset({"model_name", "parameters", "model_scope"})


def _accepted(survey: Survey, cell: Cell, change: Change, saved: Saved
              ) -> tuple[Cell, Any] | None:
    """The cell and its new value; None where nothing is to be written, or it is refused."""
    try:
        value = parse_value(cell.question, change.raw)
        _check_file(survey, cell, value)
    except InvalidInput as error:
        saved.errors[change.name] = error.message
        return None
    if value == cell.value:
        return None
    if change.revision != cell.revision:
        if value != value_at(cell, change.revision):
            saved.conflicts.append(
                Conflict(cell, show_value(cell.question, value), change.raw))
        return None
    return cell, value


def _check_file(survey: Survey, cell: Cell, value: Any) -> None:
    """`#12` must be a file of this engagement; anything else is a place in words."""
    if cell.question.type != "file" or not value or not value.startswith("#"):
        return
    number = value[1:]
    wanted = Artifact.objects.filter(pk=whole_number(number), engagement=survey.engagement)
    if not wanted.exists():
        raise InvalidInput(_("This engagement has no file %(number)s. Upload it first.")
                           % {"number": value[:40]})


def value_at(cell: Cell, revision: int) -> Any:
    """What the sender saw: the value of an earlier revision; None before the first."""
    if cell.answer is None or revision == 0:
        return None
    found = cell.answer.revisions.filter(revision=revision).first()
    return found.value if found else None


def _store(actor: User, survey: Survey, accepted: list[tuple[Cell, Any]]) -> None:
    """Answers and their revisions, in a few queries however many there are."""
    now, answers = timezone.now(), []
    for cell, value in accepted:
        answer = cell.answer or Answer(survey=survey, question=cell.question, model=cell.model)
        answer.value, answer.revision = value, cell.revision + 1
        answer.changed_by, answer.changed_at = actor, now
        answers.append(answer)
    Answer.objects.bulk_create([a for a in answers if a.pk is None])
    Answer.objects.bulk_update([a for a in answers if a.pk is not None],
                               ["value", "revision", "changed_by", "changed_at"])
    AnswerRevision.objects.bulk_create(
        AnswerRevision(answer=a, revision=a.revision, value=a.value, changed_by=actor,
                       changed_at=now) for a in answers)
