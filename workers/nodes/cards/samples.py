"""Looks at cards, kept thinly: each for a day, means of five minutes for thirty days, of an hour
for four hundred."""

from collections import defaultdict
from datetime import datetime, timedelta
from statistics import fmean

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from workers.models import CARD_VALUES, Card, Node, NodeSample
from workers.nodes.cards import alarms
from workers.nodes.cards.looks import Look, look_of

KEPT_FOR = timedelta(days=400)
STEPS = ((timedelta(days=1), 0, 300), (timedelta(days=30), 300, 3600))  # age, seconds, then
AT_ONCE = 5000  # rows thinned in one transaction


def wanted_seconds(node: Node, now: datetime) -> int:
    """Seconds between two looks for a poll that shall bring one; 0 for one that need not."""
    seconds = settings.SAMPLE_SECONDS
    is_due = node.sampled_at is None or now - node.sampled_at >= timedelta(seconds=seconds)
    return seconds if seconds > 0 and is_due else 0


def keep(node: Node, output: bytes, mark: str) -> None:
    """Keep what a poll's answer says of the cards, if it does, and open or clear their alarms."""
    look = look_of(output, mark)
    if look is None:
        return
    now = timezone.now()
    at = now - timedelta(seconds=look.age_seconds)
    with transaction.atomic():  # one after the other: log-ins of a node are polled each for itself
        Node.objects.select_for_update(of=("self",), no_key=True).get(pk=node.pk)
        NodeSample.objects.create(node=node, at=at, load=look.load, memory_mb=look.memory_mb,
                                  cards={index: [getattr(card, name) for name in CARD_VALUES]
                                         for index, card in look.cards.items()})
        Node.objects.filter(pk=node.pk).update(sampled_at=now)
        alarms.update(node, look, at)
        _keep_cards(node, look, at)
    node.sampled_at = now


def _keep_cards(node: Node, look: Look, at: datetime) -> None:
    """The cards that npu-smi has shown before, as they are now; a look adds none."""
    cards = list(Card.objects.filter(node=node, index__in=look.cards))
    for card in cards:
        found = look.cards[card.index]
        card.health = found.health or card.health
        card.temperature_c, card.power_w = found.temperature_c, found.power_w
        if found.memory_mb is not None:
            card.memory_used_mb = int(found.memory_mb)
        if found.ecc_errors is not None:
            card.ecc_errors = found.ecc_errors
        card.read_at = at
    Card.objects.bulk_update(cards, ["health", "temperature_c", "power_w", "memory_used_mb",
                                     "ecc_errors", "read_at"])


def thin(now: datetime) -> int:
    """Looks older than a day become means of five minutes, those older than thirty days means of an
    hour; these go after four hundred days.

    Returns how many rows went.
    """
    NodeSample.objects.filter(at__lt=now - KEPT_FOR).delete()
    removed = 0
    for age, seconds, mean in STEPS:
        old = NodeSample.objects.filter(seconds=seconds, at__lt=_slot(now - age, mean))
        for node in list(old.order_by().values_list("node", flat=True).distinct()):
            while rows := list(old.filter(node=node).order_by("at")[:AT_ONCE]):
                removed += _replace(rows, mean)
    return removed


def _slot(at: datetime, length: int) -> datetime:
    """The beginning of its five minutes, or of its hour."""
    seconds = int(at.timestamp())
    return datetime.fromtimestamp(seconds - seconds % length, at.tzinfo)


@transaction.atomic
def _replace(rows: list[NodeSample], length: int) -> int:
    """By one row per slot; a slot at the end that may go on is left for the next time."""
    slots: dict[datetime, list[NodeSample]] = defaultdict(list)
    for row in rows:
        slots[_slot(row.at, length)].append(row)
    if len(rows) == AT_ONCE and len(slots) > 1:
        slots.popitem()
    NodeSample.objects.bulk_create(_mean(at, found, length) for at, found in slots.items())
    gone = [row.pk for found in slots.values() for row in found]
    NodeSample.objects.filter(pk__in=gone).delete()
    return len(gone)


def _mean(at: datetime, rows: list[NodeSample], length: int) -> NodeSample:
    indexes = {index for row in rows for index in row.cards}
    cards = {index: [_mean_of([row.cards[index][place] for row in rows if index in row.cards])
                     for place in range(len(CARD_VALUES))] for index in indexes}
    memory = _mean_of([row.memory_mb for row in rows])
    return NodeSample(node_id=rows[0].node_id, at=at, seconds=length, cards=cards,
                      load=_mean_of([row.load for row in rows]),
                      memory_mb=None if memory is None else int(memory))


def _mean_of(values: list) -> float | None:
    known = [value for value in values if value is not None]
    return round(fmean(known), 2) if known else None
