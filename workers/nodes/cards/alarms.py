"""Alarms of cards: what a look shows to be wrong; and what to do about those of cards and nodes."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from workers.models import Card, CardAlarm, Job, Node
from workers.models.node import GOOD_HEALTH
from workers.nodes.cards.looks import Look

Kind = CardAlarm.Kind
COOLED = 5  # degrees below the limit before the alarm ends: no alarm comes and goes
GROWTH_FORGOTTEN = timedelta(days=1)  # a counter never falls: without growth the alarm ends

REMEDIES = {
    Kind.HEALTH: _(
        "Run “npu-smi info -t health -i <NPU>” for the error code and look it up in the driver's "
        "health-management documents; a reset (“npu-smi set -t reset”) fixes some, others need "
        "the vendor. No new job is given a card with an alarm."),
    Kind.ECC: _(
        "Memory errors that cannot be corrected spoil results: end the job, run “npu-smi info -t "
        "ecc -i <NPU>”, reset the card, and let the vendor replace it if the counter grows again."),
    Kind.HEAT: _(
        "The card slows down or switches off: look at fans, filters and the air that comes in; "
        "lower the load until it has cooled."),
    Kind.LINK: _(
        "Collective communication over this port will hang or time out: look at the cable or the "
        "optical module, then at “hccn_tool -i <card> -link_stat -g” and the switch's port."),
    Kind.DISK: _(
        "See under “Disk” what fills it; remove folders of ended jobs there, or let them be kept "
        "for fewer days."),
    Kind.CLOCK: _(
        "Look at the node's time service (chronyd, ntpd): times of its log lines and files mislead "
        "until it agrees."),
    Kind.AWAY: _(
        "Look at power, network and sshd of the node. Jobs there go on by themselves; their cards "
        "stay leased until it answers."),
    Kind.SOFTWARE: _(
        "Jobs may behave differently here than on nodes with the same chip: bring the versions "
        "into line, or acknowledge it if that is meant to be."),
    Kind.NO_END: _(
        "No job starts here meanwhile: end the maintenance, or begin it again with an end, which "
        "then ends by itself."),
}


def update(node: Node, look: Look, at: datetime) -> None:
    """Open an alarm for what is newly wrong, keep those that go on, and clear the others."""
    errors = dict(Card.objects.filter(node=node).values_list("index", "ecc_errors"))
    limit = node.temperature_limit or settings.CARD_TEMPERATURE_LIMIT
    wrong = dict(_wrong(look, errors, limit))
    opened = {(alarm.card_index, alarm.kind): alarm
              for alarm in CardAlarm.objects.filter(
                  node=node, cleared_at=None, card_index__isnull=False)}
    for (index, kind), value in wrong.items():
        if alarm := opened.get((index, kind)):
            alarm.value, alarm.seen_at = value, at
            alarm.save(update_fields=["value", "seen_at"])
        else:
            CardAlarm.open_anew(node=node, card_index=index, kind=kind, value=value, at=at)
    for place, alarm in opened.items():
        if place not in wrong and _is_over(alarm, look, at, limit):
            alarm.cleared_at = at
            alarm.save(update_fields=["cleared_at"])


def _wrong(look: Look, errors: dict[int, int | None], limit: int
           ) -> Iterator[tuple[tuple[int, str], str]]:
    for index, card in look.cards.items():
        if card.health not in GOOD_HEALTH:
            yield (index, Kind.HEALTH), card.health[:60]
        if card.temperature_c is not None and card.temperature_c >= limit:
            yield (index, Kind.HEAT), f"{card.temperature_c:g} °C"
        known = errors.get(index)
        if card.ecc_errors is not None and known is not None and card.ecc_errors > known:
            yield (index, Kind.ECC), f"{known} → {card.ecc_errors}"
        if card.link not in ("", "UP"):
            yield (index, Kind.LINK), card.link[:60]


def _is_over(alarm: CardAlarm, look: Look, at: datetime, limit: int) -> bool:
    """Only where the look says so: a value that was not asked for this time proves nothing."""
    card = look.cards.get(alarm.card_index)
    if card is None:
        return False
    return {
        Kind.HEALTH: bool(card.health),
        Kind.HEAT: card.temperature_c is not None
        and card.temperature_c <= limit - COOLED,
        Kind.ECC: card.ecc_errors is not None and at - alarm.seen_at > GROWTH_FORGOTTEN,
        Kind.LINK: bool(card.link),
    }[Kind(alarm.kind)]


def presented(alarms) -> list[dict]:
    """Alarms with what to do, for a page."""
    return [{"alarm": alarm, "remedy": REMEDIES[Kind(alarm.kind)]} for alarm in alarms]


def of_job(job: Job, now: datetime) -> list[CardAlarm]:
    """Alarms of the job's cards that were open while it ran."""
    if not (job.node and job.started_at and job.results.get("cards")):
        return []
    return list(CardAlarm.objects.filter(
        Q(cleared_at=None) | Q(cleared_at__gte=job.started_at), node=job.node,
        card_index__in=job.results["cards"], since__lte=job.finished_at or now))
