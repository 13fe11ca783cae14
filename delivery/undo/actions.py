"""The table of what can be taken back: an action, the service that does it, the message then.

Each service is a write like any other: it checks who may, refuses with a sentence where something
else happened since, and writes an audit entry of its own.
"""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from delivery.knowledge.models import SolvedCase
from delivery.knowledge.services.cases import restore_case, retire_case
from delivery.notices.services.inbox import undo_reading
from delivery.portal.portfolio.saved_views import undo_view_deletion
from engagements import services
from engagements.errors import WrongState
from engagements.models import ChecklistItem, Engagement, StageRecord, StageTransition, User
from engagements.web.undo_note import read_note
from workers.models import Runtime
from workers.services.runtimes import undo_retirement

Inverse = Callable[..., Any]  # keyword-only: the actor and the facts of the action


def _moves(*, actor: User, transitions: list[int]) -> None:
    made = StageTransition.objects.filter(
        pk__in=transitions, record__in=StageRecord.objects.visible_to(actor))
    if made.count() != len(transitions):
        raise Http404
    services.undo_moves(actor=actor, transitions=made)


def _tick(*, actor: User, item: int, done_at: str) -> None:
    records = StageRecord.objects.visible_to(actor)
    services.tick_item(actor=actor, is_done=False, seen_done_at=datetime.fromisoformat(done_at),
                       item=get_object_or_404(ChecklistItem, pk=item, record__in=records))


def _removal(*, actor: User, engagement: int, user: int, role: str) -> None:
    services.undo_member_removal(
        actor=actor, user=get_object_or_404(User, pk=user), role=role,
        engagement=get_object_or_404(Engagement.objects.visible_to(actor), pk=engagement))


def _reading(*, actor: User, read_at: str) -> None:
    undo_reading(actor=actor, read_at=datetime.fromisoformat(read_at))


def _case_retired(*, actor: User, case: int, seen: int) -> None:
    restore_case(actor=actor, seen=seen,
                 case=get_object_or_404(SolvedCase.objects.visible_to(actor), pk=case))


def _case_restored(*, actor: User, case: int, seen: int, reason: str) -> None:
    retire_case(actor=actor, seen=seen, reason=reason,
                case=get_object_or_404(SolvedCase.objects.visible_to(actor), pk=case))


def _retirement(*, actor: User, runtime: int, retired_at: str, choices: list) -> None:
    undo_retirement(actor=actor, retired_at=datetime.fromisoformat(retired_at), choices=choices,
                    runtime=get_object_or_404(Runtime.objects.visible_to(actor), pk=runtime))


ACTIONS: dict[str, Inverse] = {
    "stage.assign": services.undo_assignments,
    "stage.move": _moves,
    "checklist.tick": _tick,
    "member.remove": _removal,
    "notices.read": _reading,
    "view.delete": undo_view_deletion,
    "case.retire": _case_retired,
    "case.restore": _case_restored,
    "runtime.retire": _retirement,
}


def inverse_of(user: User, note: str) -> Callable[[], Any]:
    """What takes back the action that the note names, with its facts.

    Raises WrongState for a note that no longer counts.
    """
    action, facts = read_note(user, note)
    if action not in ACTIONS:
        raise WrongState(_("This can no longer be undone."))
    return partial(ACTIONS[action], actor=user, **facts)
