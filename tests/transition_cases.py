"""Every state x move x role of a transition table, for the test of each state machine.

What was agreed is written down a second time, as a grid: whoever changes a table has to mean it.
"""

from collections.abc import Callable, Iterator
from typing import Any

from django.db import transaction
from rest_framework.test import APIClient

from engagements.errors import DeskError, NotAllowed, WrongState
from engagements.models import User
from engagements.moves import allowed_moves
from engagements.transitions import TransitionTable

Grid = dict[tuple[str, str], list[str]]  # state, person: moves
is_whole = False  # with --everything: what several people may do is done by each of them


class _UndoneError(Exception):
    """Takes back what a move wrote."""


def grid(text: str) -> Grid:
    """Lines `draft: manager sales = submit discard`; whoever is not named may nothing."""
    found: Grid = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        head, _equals, moves = line.partition("=")
        states, _colon, people = head.partition(":")
        for state in states.split():
            found |= {(state, person): moves.split() for person in people.split()}
    return found


def check_state(table: TransitionTable, agreed: Grid, people: dict[str, User], subject: Any,
                make: Callable[[User, Any, str], Any], url: str, field: str = "allowed_moves"
                ) -> None:
    """Offer, guard and API of an object in its state agree with the grid, for everybody.

    What several people may do is done once, by the first of them; what somebody may not do is
    tried by each.

    Args:
        make: the service call of a move; what it writes is undone.
        url: of the object in the API.
    """
    state = table.state_of(subject)
    expected = {name: agreed.get((state, name), []) for name in people}
    assert {name: allowed_moves(person, table, subject) for name, person in people.items()
            } == expected
    done: set[str] = set()
    for name, person in people.items():
        moves = [move for move in table
                 if is_whole or move not in done or move not in expected[name]]
        accepted = list(_accepted(table, person, subject, make, moves))
        assert accepted == [move for move in moves if move in expected[name]], name
        done |= set(accepted)
    shown = {name: _told(person, url, field) for name, person in people.items()}
    assert {name: moves or [] for name, moves in shown.items()} == expected


def check_coverage(table: TransitionTable, agreed: Grid, states: list[str]) -> None:
    """The grid speaks of this table: its states, and each of its moves."""
    assert {state for state, _person in agreed} <= set(states)
    assert {move for moves in agreed.values() for move in moves} == set(table) == set(table.moves)


def _accepted(table: TransitionTable, person: User, subject: Any, make: Callable,
              moves: list[str]) -> Iterator[str]:
    """Those of the moves that the service does not refuse for role, state or a guard."""
    for move in moves:
        row = type(subject)._base_manager.get(pk=subject.pk)
        before, moved = table.state_of(row), None
        try:
            with transaction.atomic():
                make(person, row, move)
                moved = type(subject)._base_manager.filter(pk=subject.pk).first()
                raise _UndoneError
        except (NotAllowed, WrongState):
            continue
        except (_UndoneError, DeskError):
            assert moved is None or table.state_of(moved) in (before, table.target(before, move))
            yield move


def _told(person: User, url: str, field: str) -> list[str] | None:
    """The moves that the API names; None where it shows nothing to the person."""
    client = APIClient()
    client.force_authenticate(person)
    answer = client.get(url)
    return answer.json()[field] if answer.status_code == 200 else None
