"""One move for many models: what can move does, what cannot is reported with its reason."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from engagements.access import refuse_role
from engagements.errors import DeskError
from engagements.models import StageRecord, StageTransition, User
from engagements.moves import has_permission, roles_for
from engagements.services.stage_moves import move_stage
from engagements.stages import TRANSITIONS, StageMove


@dataclass(frozen=True)
class Refusal:
    """A stage that stays where it is, and why."""

    record: StageRecord
    sentence: str


@dataclass
class BulkMove:
    """What moved and what did not; together they are all that was asked for."""

    moved: list[StageTransition] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)


def move_stages(*, actor: User, records: Iterable[StageRecord], move: str, comment: str = ""
                ) -> BulkMove:
    """Make the same move with each stage. Each is a transaction of its own with its audit entry,
    so that one model's open gate does not hold up the others.

    Raises NotAllowed, with nothing moved, for who may not make this move at all.
    """
    transition = TRANSITIONS[StageMove(move)]
    if not has_permission(actor, transition):
        refuse_role(actor, roles_for(actor, transition))
    done = BulkMove()
    for record in records:
        try:
            done.moved.append(move_stage(actor=actor, record=record, move=move, comment=comment))
        except DeskError as error:
            done.refused.append(Refusal(record, error.message))
    return done
