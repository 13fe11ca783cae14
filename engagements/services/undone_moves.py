"""Taking back a move of a stage, where the table of transitions leads back."""

from collections.abc import Iterable

from django.db import transaction
from django.utils.translation import gettext as _

from engagements.conflict_retry import retried
from engagements.errors import WrongState
from engagements.models import StageRecord, StageTransition, User
from engagements.moves import allowed_moves
from engagements.services.stage_moves import move_stage
from engagements.stages import TRANSITIONS


def move_back(transition: StageTransition) -> str | None:
    """The move of the table that leads to where the stage was before; None where there is none.

    Decisions are not taken back: who let a stage through reopens it, with a reason.
    """
    if TRANSITIONS[transition.move].is_decision:
        return None
    return next((move for move in TRANSITIONS.moves_from(transition.to_state)
                 if TRANSITIONS[move].target == transition.from_state
                 and not TRANSITIONS[move].is_decision), None)


def can_be_undone(transition: StageTransition) -> bool:
    """Whether who made the move could take it back now."""
    return move_back(transition) in allowed_moves(transition.actor, TRANSITIONS, transition.record)


@retried
@transaction.atomic
def undo_move(*, actor: User, transition: StageTransition) -> StageTransition:
    """Move the stage back to where it was, as a move of its own with its audit entry.

    Raises WrongState where the table does not lead back or the stage moved on since, and what
    `move_stage` raises.
    """
    record = StageRecord.objects.select_for_update(of=("self",), no_key=True).select_related(
        "model__engagement").get(pk=transition.record_id)
    move = move_back(transition)
    latest = record.transitions.order_by("-at", "-pk").first()
    if move is None or latest != transition:
        raise WrongState(_("%(stage)s moved on meanwhile; "
                           "nothing was undone.") % {"stage": record})
    return move_stage(actor=actor, record=record, move=move, comment=_("Undone"))


@retried
@transaction.atomic
def undo_moves(*, actor: User, transitions: Iterable[StageTransition]) -> list[StageTransition]:
    """Take back every one of the moves, each with its audit entry, or none of them.

    Raises what `undo_move` raises for the first that cannot be taken back.
    """
    return [undo_move(actor=actor, transition=transition)
            for transition in sorted(transitions, key=lambda made: made.record_id)]
