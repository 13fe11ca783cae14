"""What a next step is: a condition, a sentence, a page with its button, and who can take it.

One registry serves the inbox of a person, the page of an engagement, e-mails and the API. A rule
reads rows of either one person or one engagement (`Scope`); the number of its queries does not
depend on how many there are.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from delivery.next_steps.items import OTHERS_WAIT
from engagements.models import Engagement, User
from engagements.moves import has_permission, passes
from engagements.transitions import TransitionTable


@dataclass(frozen=True)
class Scope:
    """Of whom or of what steps are looked for: all that `user` sees, or one engagement."""

    now: datetime
    user: User | None = None
    engagement: Engagement | None = None
    limit: int | None = None  # of the most urgent rows, in a person's scope

    @property
    def today(self) -> date:
        return timezone.localdate(self.now)

    def of(self, rows: QuerySet, path: str = "engagement", *, may_have_ended: bool = False
           ) -> QuerySet:
        """The rows in scope; `path` leads from a row to its engagement. Of one that has ended
        nothing waits, save what may."""
        found = (rows.filter(**{path: self.engagement}) if self.engagement
                 else rows.visible_to(self.user))
        return found if may_have_ended else found.exclude(
            **{f"{path}__state__in": Engagement.ENDED})

    def active(self) -> QuerySet[Engagement]:
        """Engagements in scope that are under way."""
        if self.engagement:
            return Engagement.objects.filter(pk=self.engagement.pk, state=Engagement.State.ACTIVE)
        return Engagement.objects.visible_to(self.user).filter(state=Engagement.State.ACTIVE)


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a step is taken and what it is about; since when it waits, until when it is due.

    `kind`, `label` and `rank` replace those of the rule where the row says more.
    """

    title: str
    engagement: str
    url: str
    since: datetime | None = None
    due: date | None = None
    kind: str = ""
    label: str = ""
    rank: int | None = None


def everybody(_user: User, _row: Any) -> bool:
    return True


def anybody(_user: User) -> bool:
    return True


@dataclass(frozen=True, kw_only=True)
class NextStep:
    """One rule.

    Args:
        code: for API, tests and colours.
        label: what is to be done, the text of the button.
        may: whose role is enough.
        rows: what waits for this step within a scope.
        is_for: whether a person with the role may take it, by what they did before.
        place: title, page and times of a row.
        asks: whose inbox shows it, where that is not everybody who may; None: nobody's, it only
            stands on the engagement's page.
        lacks: sentences on whom the engagement lacks, where nobody can take it.
        order: columns by which the most urgent rows come first.
        perhaps: keeps rows that may be the person's, where `is_for` would refuse most of them.
        shown: columns that `place` and `is_for` read, where lists of many rows need no others.
        board: address of a list of one engagement's rows, where many of them are one line.
        goes_to_delegate: whether it waits for a person by name, and for a delegate in that place.
        covers: (table, state) for which this is a way on; see `tests`.
    """

    code: str
    label: Any
    may: Callable[[User], bool]
    rows: Callable[[Scope], Iterable]
    place: Callable[[Any], Place]
    is_for: Callable[[User, Any], bool] = everybody
    rank: int = OTHERS_WAIT
    asks: Callable[[User], bool] | None = anybody
    lacks: Callable[[Any], list[str]] | None = None
    order: tuple[str, ...] = ()
    perhaps: Callable[[User], Q] | None = None
    shown: tuple[str, ...] = ()
    board: Callable[[str], str] | None = None
    goes_to_delegate: bool = False
    covers: frozenset[tuple[str, str]] = frozenset()

    def is_asked(self, user: User) -> bool:
        """Whether the person's inbox shows what waits for this step."""
        return self.asks is not None and self.may(user) and self.asks(user)

    def can_take(self, user: User, row: Any) -> bool:
        """Whether the person can take this step for the row."""
        return self.may(user) and self.is_for(user, row)


def may_make(table: TransitionTable, move: str) -> Callable[[User], bool]:
    """Whether a person's role is enough for the move, as the table says."""
    return lambda user: has_permission(user, table[move])


def by_move(name: str, table: TransitionTable, move: str, **more) -> NextStep:
    """A rule for a move of a table: who may make it and the states that it covers stand there.

    Args:
        name: of the table, in `covers`.
        more: of the rule; replaces what follows from the table.
    """
    row = table[move]
    is_for = (lambda user, subject: passes(user, row, subject)) if row.guards else everybody
    return NextStep(**{"may": may_make(table, move), "is_for": is_for,
                       "covers": states(name, *row.sources), **more})


def states(table: str, *names: str) -> frozenset[tuple[str, str]]:
    """What a rule covers: states of the objects of one table."""
    return frozenset((table, name) for name in names)
