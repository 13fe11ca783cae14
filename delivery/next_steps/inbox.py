"""The inbox: what waits for one person to do, the most urgent first."""

from collections import defaultdict
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from datetime import date, datetime
from itertools import count, islice

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from delivery.next_steps.items import ALSO, FEW, OTHERS_WAIT, InboxContext, InboxItem
from delivery.next_steps.registry import RULES
from delivery.next_steps.rules import NextStep, Place, Scope, everybody
from engagements.models import Engagement, User

MORE = 10  # rows of a slice beyond those asked for


def inbox_items(user: User, now: datetime | None = None, limit: int | None = None,
                also: bool = False) -> list[InboxItem]:
    """What waits for the user: overdue, due soon, what others wait for, what broke, the rest.

    Within a rank what is due first or waits longest comes first. The number of queries does not
    depend on the number of rows.

    Args:
        limit: the most urgent ones only; no rule then reads more rows than it has to.
        also: what the user can take although it is asked of others, behind all else.
    """
    context = InboxContext(user, now or timezone.now())
    scope = Scope(context.now, user=user, limit=limit)
    asked = [rule for rule in RULES if rule.is_asked(user)]
    others = [replace(rule, rank=ALSO) for rule in RULES
              if also and rule not in asked and rule.may(user)]
    found = [item for rule in asked + others
             for item in _items(context, rule, list(_rows(rule, scope)), limit)]
    found = _with_delegated(user, context, found, limit)
    return sorted(found, key=lambda item: (
        item.urgency, _first(context, item), item.label, item.title))[:limit]


def _with_delegated(user: User, context: InboxContext, found: list[InboxItem], limit: int | None
                    ) -> list[InboxItem]:
    """With what waits for colleagues who are away and delegated to the user, marked with their
    names: turns of documents that are the user's now, and what waits for a person by name."""
    items = {(item.kind, item.url, item.title): item for item in found}
    absents = User.objects.filter(pk__in=user.stands_in_for).order_by("pk")
    if absents:
        alone = copy(user)
        alone.stands_in_for = frozenset()
        codes = {*Engagement.objects.visible_to(user).values_list("code", flat=True)}
    for absent in absents:
        scope = Scope(context.now, user=absent, limit=limit)
        for rule in (row for row in RULES if row.is_asked(absent) and row.may(user)):
            rows = [row for row in _rows(rule, scope) if not rule.is_for(alone, row)
                    and (rule.goes_to_delegate or rule.is_for(user, row))]
            items |= {(item.kind, item.url, item.title): replace(
                item, title=_("%(title)s (for %(person)s)") % {
                    "title": item.title, "person": absent})
                for item in _items(context, rule, rows, limit) if item.engagement in codes}
    return list(items.values())


def _first(context: InboxContext, item: InboxItem) -> date:
    """What others wait for goes by how long they do, all else by when it is due, if it is."""
    is_waited_for = item.urgency == OTHERS_WAIT and item.since
    return context.day_of(item.since) if is_waited_for else item.due or context.day_of(item.since)


def _rows(rule: NextStep, scope: Scope) -> Iterator:
    """The rows that wait for the person, as many as are asked for."""
    rows = rule.rows(scope)
    if isinstance(rows, QuerySet):
        if rule.perhaps:
            rows = rows.filter(rule.perhaps(scope.user))
        if rule.shown:
            rows = rows.only(*rule.shown)
        if scope.limit:
            # Where not every row is the person's, one slice of some more is mostly enough.
            is_exact = rule.perhaps or rule.is_for is everybody
            rows = _slices(rows.order_by(*rule.order, "pk"),
                           scope.limit + (0 if is_exact else MORE))
    return islice((row for row in rows if rule.is_for(scope.user, row)), scope.limit)


def _slices(rows: QuerySet, size: int) -> Iterator:
    """The rows one after the other, read a slice at a time."""
    for start in count(0, size):
        found = list(rows[start:start + size])
        yield from found
        if len(found) < size:
            return


def _items(context: InboxContext, rule: NextStep, rows: list, limit: int | None
           ) -> Iterator[InboxItem]:
    """A line for each row; many of one engagement are one line where there is a list of them.

    Where as many rows were read as are asked for, an engagement may have more of them.
    """
    is_all = len(rows) != limit
    together: dict[str, list[Place]] = defaultdict(list)
    for row in rows:
        place = rule.place(row)
        together[place.engagement].append(place)
    for code, places in together.items():
        if rule.board and len(places) > FEW:
            yield _line(context, rule, many(rule, code, places, is_all), len(places))
        else:
            yield from (_line(context, rule, place) for place in places)


def many(rule: NextStep, code: str, places: list[Place], is_all: bool = True) -> Place:
    """One place for many rows of an engagement: the list of them."""
    words = ngettext("%(n)d model", "%(n)d models", len(places)) if is_all else _(
        "%(n)d models or more")
    title = words % {"n": len(places)}
    since = min((place.since for place in places if place.since), default=None)
    return Place(title=title, engagement=code, url=rule.board(code), since=since)


def _line(context: InboxContext, rule: NextStep, place: Place, rows: int = 1) -> InboxItem:
    rank = rule.rank if place.rank is None or rule.rank == ALSO else place.rank
    return context.item(rank, place.kind or rule.code, place.label or str(rule.label), place.title,
                        place.engagement, place.url, since=place.since, due=place.due, count=rows)
