"""State machines as tables: each move with its states, who may make it, what it needs, what it does
and under which action the audit log keeps it.

One table drives the guard of the service, the buttons of the page, the moves that the API offers,
the labels of the audit log, next steps, docs/state-machines.md, and the tests of every state, move
and role. `engagements.moves` asks it about a person and makes its moves.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from types import MappingProxyType
from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from engagements.permissions import Can

# A right that a role includes, or a predicate of the person and the object.
Permission = Can | Callable[[Any, Any], bool]
# Raises a DeskError where something but role and state keeps the person from the move.
Guard = Callable[[Any, Any], None]
# Sets what the move changes on the locked row besides its state: row, actor, reason. Returns what
# the audit entry says.
Effect = Callable[[Any, Any, str], dict | None]


class AuditAction(NamedTuple):
    """The action under which the audit log keeps a move, and its label there."""

    code: str
    label: Any


@dataclass(frozen=True, kw_only=True)
class Transition:
    """One move: from which states, to which, and for whom.

    `target` is empty where the state stays or the effect `deletes` the row; one of the
    `permissions` is needed, and all `guards` have to let it pass. `label` is that of its button,
    where the code in the table's `moves` has no better one. `may_have_ended`: even of an
    engagement that is closed or cancelled.
    """

    sources: frozenset[str]
    target: str = ""
    permissions: tuple[Permission, ...]
    guards: tuple[Guard, ...] = ()
    needs_reason: bool = False
    label: Any = ""
    effect: Effect | None = None
    deletes: bool = False
    may_have_ended: bool = False
    audit: AuditAction | None = None


def transition(*sources: str, by: Permission | tuple[Permission, ...], to: str = "",
               audit: tuple[str, Any] | None = None, **more) -> Transition:
    """A row of a table, as one reads it: these states, by whom, to that state."""
    return Transition(sources=frozenset(sources), target=to,
                      permissions=by if isinstance(by, tuple) else (by,),
                      audit=AuditAction(*audit) if audit else None, **more)


def automatic(*sources: str, to: str, audit: tuple[str, Any] | None = None, **more) -> Transition:
    """A row for what nobody decides on, since it follows from something else."""
    return transition(*sources, by=(), to=to, audit=audit, **more)


def not_possible_now(subject: Any, _move: str) -> str:
    """The sentence for a move that the state does not allow, of an object that has no better."""
    return _("%(name)s is “%(state)s”: this step is not possible now.") % {
        "name": subject, "state": subject.get_state_display()}


class TransitionTable(dict[str, Transition]):
    """The transitions of a state machine by the code of their move, in the order of the buttons.

    A constant. `moves` is the enumeration of its codes.

    Args:
        automatic: rows for what follows from something else, by what happened.
        lock: reads an object's row anew and locks it, where more than the row is locked or read.
        state_of: the state of an object, if it is more than its column.
        refusal: the sentence why an object's state does not allow a move.
    """

    def __init__(self, transitions: Mapping[str, Transition],
                 automatic: Mapping[str, Transition] = MappingProxyType({}),
                 lock: Callable[[Any], Any] | None = None,
                 state_of: Callable[[Any], str] = attrgetter("state"),
                 refusal: Callable[[Any, str], str] = not_possible_now):
        super().__init__(transitions)
        self.moves, self.state_of, self.refusal = type(next(iter(self))), state_of, refusal
        self.automatic, self.lock = automatic, lock

    def __deepcopy__(self, _memo) -> "TransitionTable":
        return self

    def target(self, state: str, move: str) -> str | None:
        """The state to which the move leads; None where it is not possible in this state."""
        row = self.get(move)
        return (row.target or state) if row and state in row.sources else None

    def moves_from(self, state: str) -> list[str]:
        """The moves that are possible in a state."""
        return [move for move, row in self.items() if state in row.sources]

    def label(self, move: str) -> str:
        """The label of a move's button."""
        return str(self[move].label or self.moves(move).label)

    def audit_labels(self) -> dict[str, Any]:
        """The label of each move's action in the audit log."""
        rows = (*self.values(), *self.automatic.values())
        return dict(row.audit for row in rows if row.audit)
