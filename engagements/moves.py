"""Who may make which move of a transition table: what is offered, what a service demands, and the
move itself."""

from copy import copy
from typing import Any

from django.db import transaction
from django.db.models import Model
from django.utils.translation import gettext as _

from engagements.access import allowed, refuse_role, require_visible
from engagements.audit import audit_log
from engagements.decisions import may_write, require_person
from engagements.errors import DeskError, InvalidInput, WrongState
from engagements.models import Role, User
from engagements.permissions import Can
from engagements.transitions import Permission, Transition, TransitionTable


def has_permission(user: User, transition: Transition, subject: Any = None) -> bool:
    """Whether the role is enough; without an object, whether it is whatever the object."""
    return any(_holds(user, permission, subject) for permission in transition.permissions)


def roles_for(user: User, transition: Transition, subject: Any = None) -> list[str]:
    """The roles with which the user would have the permission."""
    return [role for role in Role if has_permission(_as(user, role), transition, subject)]


def _as(user: User, role: str) -> User:
    probe = copy(user)
    probe.role = role
    return probe


def _holds(user: User, permission: Permission, subject: Any) -> bool:
    if isinstance(permission, Can):
        return allowed(user, permission)
    return subject is not None and permission(user, subject)


def allowed_moves(user: User, table: TransitionTable, subject: Any) -> list[str]:
    """The moves that state, role and guards leave to the user, in the table's order."""
    return [move for move in table.moves_from(table.state_of(subject))
            if has_permission(user, table[move], subject) and _is_enough(user, table[move])
            and passes(user, table[move], subject)
            and (table[move].may_have_ended or not _has_ended(subject))]


def _is_enough(user: User, transition: Transition) -> bool:
    """Whether a token that signed in may make the move; where the service writes the entry by
    itself, that asks."""
    return transition.audit is None or may_write(user, transition.audit.code)


def _has_ended(subject: Any) -> bool:
    return bool(subject.engagement and subject.engagement.has_ended)


def offered_moves(user: User, table: TransitionTable, subject: Any) -> dict[str, str]:
    """The same for a page: the label of each move's button by its code."""
    return {move: table.label(move) for move in allowed_moves(user, table, subject)}


def passes(user: User, transition: Transition, subject: Any) -> bool:
    """Whether the guards let the user make the move, whatever role and state say."""
    try:
        for guard in transition.guards:
            guard(user, subject)
    except DeskError:
        return False
    return True


def require_permission(user: User, table: TransitionTable, subject: Any, move: str) -> None:
    """Raise NotAllowed unless the role is enough and the user sees the engagement, EngagementEnded
    where that has ended."""
    if move not in table:
        raise InvalidInput(_("There is no such step."))
    if not has_permission(user, table[move], subject):
        refuse_role(user, roles_for(user, table[move], subject))
    if not _is_enough(user, table[move]):
        require_person(user, table[move].audit.code)
    require_visible(user, subject.engagement, may_have_ended=table[move].may_have_ended)


def require_state(table: TransitionTable, subject: Any, move: str) -> None:
    """Raise WrongState unless the state allows the move."""
    if table.state_of(subject) not in table[move].sources:
        raise WrongState(table.refusal(subject, move))


def require_move(user: User, table: TransitionTable, subject: Any, move: str,
                 reason: str | None = None) -> None:
    """Demand everything that the table asks for, of the row as it was read under its lock.

    Raises NotAllowed for the role, WrongState for the state, what a guard raises, and InvalidInput
    where the move needs a reason and has none.
    """
    require_permission(user, table, subject, move)
    require_state(table, subject, move)
    for guard in table[move].guards:
        guard(user, subject)
    if table[move].needs_reason and not (reason or "").strip():
        raise InvalidInput(_("Give the reason."))


@transaction.atomic
def make_move(*, actor: User, table: TransitionTable, subject: Model, move: str, reason: str = ""
              ) -> Any:
    """Make a move of the table: lock the row, demand what the table asks for, run the row's effect,
    save the new state and write the audit entry. Returns the locked row.

    Raises what `require_move` and the effect raise.
    """
    subject = lock_for_move(actor, table, subject, move, reason)
    effect = table[move].effect
    return complete_move(actor, table, subject, move,
                         effect(subject, actor, reason) if effect else None)


def lock_for_move(actor: User, table: TransitionTable, subject: Any, move: str, reason: str = ""
                  ) -> Any:
    """The locked row, once the table lets the actor make the move. Call it in a transaction."""
    subject = (table.lock or locked)(subject)
    require_move(actor, table, subject, move, reason)
    return subject


def locked(subject: Any) -> Any:
    """The object's row, read anew and locked until the transaction ends."""
    return type(subject)._default_manager.select_for_update(
        of=("self",), no_key=True).get(pk=subject.pk)


def complete_move(actor: User, table: TransitionTable, subject: Model, move: str,
                  data: dict | None = None) -> Any:
    """Save the locked row in the state that the move leads to, with its audit entry. Returns it."""
    row = table[move]
    if not row.deletes:
        subject.state = row.target or subject.state
        subject.save()
    _record(actor, row, subject, data)
    return subject


def follow(*, actor: User | None, table: TransitionTable, subject: Model, event: str, **data
           ) -> Any:
    """Save the locked row in the state that follows from an event of the table's automatic rows,
    with the audit entry. Returns the row."""
    row = table.automatic[event]
    subject.state = row.target
    subject.save()
    _record(actor, row, subject, data)
    return subject


def _record(actor: User | None, row: Transition, subject: Model, data: dict | None) -> None:
    audit_log.record(actor=actor, action=row.audit.code, target=subject,
                     engagement=subject.engagement, data=data)
