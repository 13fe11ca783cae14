"""State machines as tables: each move with its states, who may make it, and what it needs.

One table drives the guard of the service, the buttons of the page, the moves that the API offers,
and the tests of every state, move and role.
"""

from collections.abc import Callable
from dataclasses import dataclass

from engagements.permissions import Can


@dataclass(frozen=True, kw_only=True)
class Transition:
    """One move: from which states, to which, and what the actor's role has to include."""

    sources: frozenset[str]
    target: str
    permission: Can
    needs_reason: bool = False


class TransitionTable(dict[str, Transition]):
    """The transitions of a state machine by the code of their move, in the order of the buttons."""

    def target(self, state: str, move: str) -> str | None:
        """The state to which the move leads; None where it is not possible in this state."""
        transition = self.get(move)
        return transition.target if transition and state in transition.sources else None

    def moves_from(self, state: str, is_permitted: Callable[[Can], bool] = lambda _can: True
                   ) -> list[str]:
        """The moves that are possible in a state, of those for which the role is enough."""
        return [move for move, transition in self.items()
                if state in transition.sources and is_permitted(transition.permission)]
