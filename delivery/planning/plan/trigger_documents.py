"""Papers that release the payments of milestones. The app that issues them registers them."""

from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from delivery.agreement.models import Agreement
from delivery.planning.models import Milestone, Timesheet
from engagements.addresses import address


@dataclass(frozen=True)
class TriggerDocument:
    """A paper that releases a payment: its number, and the address of its page."""

    number: str
    url: str


@dataclass(frozen=True)
class Trigger:
    """The papers of one trigger.

    Args:
        code: of `Milestone.Trigger`.
        rows: those that release the payment, the oldest first.
        engagement: path from a row to its engagement.
        shown: a row as what it says on the milestone.
    """

    code: str
    rows: Callable[[], QuerySet]
    engagement: str
    shown: Callable[[Any], TriggerDocument]


_triggers: list[Trigger] = []


def register_trigger(trigger: Trigger) -> None:
    """Add the papers of a trigger."""
    _triggers.append(trigger)


def trigger_documents(engagements: Collection[int]) -> dict[int, dict[str, TriggerDocument]]:
    """By engagement the newest paper of each trigger; a query for each trigger."""
    found: dict[int, dict[str, TriggerDocument]] = defaultdict(dict)
    for trigger in _triggers:
        engagement_of = attrgetter(f"{trigger.engagement.replace('__', '.')}_id")
        for row in trigger.rows().filter(**{f"{trigger.engagement}__in": engagements}):
            found[engagement_of(row)][trigger.code] = trigger.shown(row)
    return found


def is_released() -> Q:
    """Of milestones: the paper that releases the payment exists."""
    released = Q(pk__in=())
    for trigger in _triggers:
        papers = trigger.rows().filter(**{
            trigger.engagement: OuterRef("plan__engagement")}).order_by()
        released |= Q(Exists(papers), trigger=trigger.code)
    return released


register_trigger(Trigger(
    Milestone.Trigger.CONTRACT,
    lambda: Agreement.objects.filter(state=Agreement.State.AGREED).select_related(
        "engagement").order_by("pk"), "engagement",
    lambda row: TriggerDocument(str(row), address("agreement:agreement", row.engagement.code))))
register_trigger(Trigger(
    Milestone.Trigger.TIMESHEET,
    lambda: Timesheet.objects.filter(state=Timesheet.State.CONFIRMED).select_related(
        "engagement").defer("facts").order_by("pk"), "engagement",
    lambda row: TriggerDocument(str(row), address("planning:timesheet", row.pk))))
