"""Writes about the next version of the questionnaire while it is a draft."""

from django.db import transaction
from django.utils.translation import gettext as _

from delivery.surveys.models import Questionnaire, QuestionnaireDraft
from delivery.surveys.services.publishing import (
    check_questions,
    load_standard_questionnaire,
    question_dicts,
    store_version,
)
from engagements.access import require_administrator
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import User


@transaction.atomic
def begin_draft(*, actor: User) -> QuestionnaireDraft:
    """The open draft, or a new one with the questions of the newest version."""
    require_administrator(actor)
    base = load_standard_questionnaire()
    draft, is_new = QuestionnaireDraft.objects.get_or_create(
        pk=1, defaults={"base": base, "questions": question_dicts(base), "changed_by": actor})
    if is_new:
        audit_log.record(actor=actor, action="questionnaire.draft", target=draft)
    return draft


@transaction.atomic
def save_question(*, actor: User, seen: int, question: dict, key: str = "", after: str = ""
                  ) -> QuestionnaireDraft:
    """Replace the question with that key, or put a new one in behind `after` ("" is the end).

    Args:
        seen: the draft's `edits` that the page showed.
    Raises InvalidInput naming what is wrong, WrongState when somebody else changed the draft.
    """
    draft = _open(actor, seen)
    keys = [entry["key"] for entry in draft.questions]
    if key:
        draft.questions[_index(keys, key)] = question
    else:
        place = _index(keys, after) + 1 if after else len(keys)
        draft.questions.insert(place, question)
    return _close(actor, draft, "questionnaire.question", {"key": question.get("key")})


@transaction.atomic
def remove_question(*, actor: User, seen: int, key: str) -> QuestionnaireDraft:
    """Take a question out. Raises InvalidInput while a condition of another one names it."""
    draft = _open(actor, seen)
    del draft.questions[_index([entry["key"] for entry in draft.questions], key)]
    return _close(actor, draft, "questionnaire.question_remove", {"key": key})


@transaction.atomic
def move_question(*, actor: User, seen: int, key: str, is_up: bool) -> QuestionnaireDraft:
    """Change places with the neighbour; at the end of the list nothing moves."""
    draft = _open(actor, seen)
    here = _index([entry["key"] for entry in draft.questions], key)
    there = here - 1 if is_up else here + 1
    if 0 <= there < len(draft.questions):
        entries = draft.questions
        entries[here], entries[there] = entries[there], entries[here]
    return _close(actor, draft, "questionnaire.question_move", {"key": key})


@transaction.atomic
def publish_draft(*, actor: User, seen: int, note: str) -> Questionnaire:
    """The draft as a new version; surveys already begun keep theirs. The draft is gone.

    Raises InvalidInput without a note or where nothing differs from the newest version.
    """
    draft = _open(actor, seen)
    if not note.strip():
        raise InvalidInput(_("Say in one sentence what is new."))
    checked = check_questions(draft.questions)
    if checked == question_dicts(load_standard_questionnaire()):
        raise InvalidInput(_("Nothing differs from the newest version."))
    draft.delete()
    return store_version(actor, checked, note)


@transaction.atomic
def discard_draft(*, actor: User, seen: int) -> None:
    """Throw the draft away."""
    draft = _open(actor, seen)
    QuestionnaireDraft.objects.filter(pk=draft.pk).delete()
    audit_log.record(actor=actor, action="questionnaire.discard", target=draft,
                     data={"edits": draft.edits})


def _open(actor: User, seen: int) -> QuestionnaireDraft:
    require_administrator(actor)
    draft = QuestionnaireDraft.objects.select_for_update(of=("self",), no_key=True).first()
    if draft is None:
        raise WrongState(_("There is no draft; create one."))
    if draft.edits != seen:
        raise WrongState(_("%(who)s has changed the draft in the meantime. "
                           "Check it again; your changes were not saved.")
                         % {"who": draft.changed_by})
    return draft


def _close(actor: User, draft: QuestionnaireDraft, action: str, data: dict) -> QuestionnaireDraft:
    """Checked as a whole, so that a draft can be published at any time."""
    draft.questions = check_questions(draft.questions)
    draft.edits += 1
    draft.changed_by = actor
    draft.save()
    audit_log.record(actor=actor, action=action, target=draft, data=data)
    return draft


def _index(keys: list[str], key: str) -> int:
    if key not in keys:
        raise InvalidInput(_("There is no question “%(key)s”.") % {"key": key})
    return keys.index(key)
