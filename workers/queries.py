"""Queries shared by pages and API."""

import math
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.translation import gettext as _

from engagements.models import Engagement
from engagements.text import text_joining
from engagements.text.nested_sentences import sentence_of
from toolreaders.number_parsing import whole_number
from workers.dispatch import card_queue, forecast
from workers.dispatch.admission import admission
from workers.dispatch.forecast import Forecast
from workers.dispatch.sentences import HELD
from workers.dispatch.usual_durations import UsualDurations
from workers.labels import software_names
from workers.models import Card, CardLease, CardQuota, Gang, Job, Node, NodeReservation
from workers.models.job import WAITING_STATES
from workers.nodes import conditions
from workers.nodes.card_leases import choose_cards, usable_cards
from workers.nodes.conditions import LEVELS, TAGS, Condition, Reason

BUSY_MEMORY = 0.2  # share of a card's memory; an idle one of 64 GB has 5 % in use
BUSY_POWER = 1.5  # times what the node's idlest card draws; idle ones differ by a fifth


def filtered_jobs(jobs: QuerySet, params) -> QuerySet:
    """The list's filter: engagement code, kind, state, node, card, days of the order."""
    for name, field in (("engagement", "engagement__code"), ("kind", "kind"),
                        ("state", "state")):
        if params.get(name):
            jobs = jobs.filter(**{field: params[name]})
    if (agent := whole_number(params.get("agent"))) is not None:
        jobs = jobs.filter(agent=agent)
    if node := params.get("node"):
        jobs = jobs.filter(_on_node(node))
    for name, field in (("from", "created_at__date__gte"), ("to", "created_at__date__lte")):
        if day := _day(params.get(name, "")):
            jobs = jobs.filter(**{field: day})
    if (card := whole_number(params.get("card"))) is not None:
        jobs = jobs.filter(Exists(CardLease.objects.filter(
            job=OuterRef("pk"), card_index=card)))
    return jobs.select_related("engagement", "model", "node", "created_by")


def attempts_of(job: Job) -> list[Job]:
    """Every attempt at what was ordered, in their order, and behind them the repetitions
    (evi.rerun) of any of them; empty where the job is the only one."""
    found = [job]
    while (first := found[0]).retry_of_id:
        found.insert(0, first.retry_of)
    while later := found[-1].retries.first():
        found.append(later)
    found += Job.objects.filter(
        kind="evi.rerun", engagement=job.engagement_id,
        parameters__job__in=[attempt.pk for attempt in found]).order_by("pk")
    return found if len(found) > 1 else []


def _day(text: str) -> date | None:
    """None for what is no day."""
    with suppress(ValueError):
        return parse_date(text)
    return None


def _on_node(name: str) -> Q:
    """Jobs of a node, and jobs on several nodes with a member there. Its key and no join, where
    there is none of those: then the index of the node's jobs is read in order."""
    nodes = list(Node.objects.filter(name=name).values_list("pk", flat=True))
    gangs = Gang.objects.filter(members__node__in=nodes)
    return Q(node__in=nodes) | Q(own_gang__in=gangs) if gangs.exists() else Q(node__in=nodes)


@dataclass
class CardRow:
    """One card of a node: its last reading, who holds it until when, or why nobody may.

    `job` is None for a job that the user may not see, `is_held` is true all the same.
    """

    index: int
    card: Card | None
    faults: list[Reason]
    lease: CardLease | None = None
    job: Job | None = None
    until: datetime | None = None
    why_unused: str = ""
    seems_used: bool = False  # free, but what npu-smi shows is no idle card

    @property
    def is_held(self) -> bool:
        return self.lease is not None

    @property
    def tag(self) -> str:
        if self.faults:
            return TAGS["danger"]
        return "running" if self.is_held else "closed" if self.why_unused else "ok"


@dataclass
class FleetRow:
    """A node with everything that an operator asks of it, as far as the user may see it."""

    node: Node
    condition: Condition
    cards: list[CardRow]
    promised: list[dict]  # reservations, now or later
    waiting: int
    versions: list[tuple[str, str, str]]  # name, version, what the others have if it differs
    certificate_end: datetime | None

    @property
    def held(self) -> int:
        return sum(card.is_held for card in self.cards)

    @property
    def unused(self) -> list[str]:
        """Why free cards cannot be used, each once."""
        return list(dict.fromkeys(card.why_unused for card in self.cards if card.why_unused))

    @property
    def free(self) -> int:
        """Cards that a job could be given now."""
        return len(self.cards) - self.held - sum(bool(card.why_unused) for card in self.cards)


def fleet_of(nodes: Iterable[Node], user, now: datetime) -> list[FleetRow]:
    """The nodes by trouble, worst first; asks as often for many as for one."""
    nodes = list(nodes)
    found, loads = conditions.conditions_of(nodes, now), card_queue.loads_of(nodes)
    running = {lease.job_id: lease.job for load in loads for lease in load.leases}
    seen, usual = _visible(user, list(running)), UsualDurations(running.values())
    ends = forecast.expected_ends(running.values(), usual, now)
    codes = dict(Engagement.objects.visible_to(user).filter(
        pk__in={one.engagement_id for load in loads for one in load.reservations}).values_list(
        "pk", "code"))
    rows = [_fleet_row(load, found[load.node.pk], seen, ends, codes, now) for load in loads]
    _mark_used_by_others(rows)
    return sorted(rows, key=lambda row: (row.condition.rank, row.node.name))


def _fleet_row(load: card_queue.Load, condition: Condition, seen: dict[int, Job],
               ends: dict[int, datetime | None], codes: dict[int, str], now: datetime) -> FleetRow:
    node, leases = load.node, {lease.card_index: lease for lease in load.leases}
    known = {card.index: card for card in node.cards.all()}
    cards = [CardRow(index, known.get(index), condition.of_card(index), leases.get(index))
             for index in sorted({*(known or range(node.cards_total or 0)), *leases})
             if not node.scheduler]
    promised = [{"cards": one.cards, "whom": codes.get(one.engagement_id, "")
                 or _("another project"), "row": one, "is_on": one.starts_at <= now}
                for one in load.reservations if one.engagement_id]
    spoken_for = [_("reserved for %(whom)s until %(end)s") % {
        "whom": each["whom"], "end": f"{timezone.localtime(each['row'].ends_at):%m-%d %H:%M}"}
        for each in promised if each["is_on"]
        for _card in range(each["row"].cards or len(cards))]
    for card in cards:
        if card.lease:
            card.job, card.until = seen.get(card.lease.job_id), ends[card.lease.job_id]
        elif condition.obstacle or card.faults:
            card.why_unused = (condition.obstacle or card.faults[0]).word
        elif spoken_for:
            card.why_unused = spoken_for.pop()
    return FleetRow(
        node, condition, cards, promised, sum(job.state in WAITING_STATES for job in load.jobs),
        [(name, version, condition.differing.get(code, ""))
         for code, name, version in software_names.named(node.software)],
        conditions.certificate_end(node))


def _mark_used_by_others(rows: Iterable[FleetRow]) -> None:
    """Cards that nobody holds, though they were read with more memory in use or more power drawn
    than an idle one has; not where our own job has ended since."""
    busy = {each.card.pk: each for row in rows for each in row.cards if each.card
            and not each.is_held and _is_busy(each.card, row.cards)}
    ours = CardLease.objects.filter(node=OuterRef("node"), card_index=OuterRef("index"),
                                    released_at__gte=OuterRef("read_at"))
    for pk in busy and Card.objects.filter(pk__in=busy).exclude(Exists(ours)).values_list(
            "pk", flat=True):
        busy[pk].seems_used = True


def _is_busy(card: Card, others: list[CardRow]) -> bool:
    powers = [each.card.power_w for each in others if each.card and each.card.power_w]
    return (card.memory_used_mb or 0) > BUSY_MEMORY * (card.memory_total_mb or math.inf) or (
        (card.power_w or 0) > BUSY_POWER * min(powers, default=math.inf))


def fleet_summary(rows: Iterable[FleetRow]) -> dict[str, Any]:
    """Cards held, free and free but of no use, and nodes by what is the matter with them."""
    rows = list(rows)
    unused = Counter(card.why_unused for row in rows for card in row.cards if card.why_unused)
    return {"nodes": len(rows), "cards": sum(len(row.cards) for row in rows),
            "held": sum(row.held for row in rows), "free": sum(row.free for row in rows),
            "unused": text_joining.listed(
                f"{n}{text_joining.bracketed(why)}" for why, n in unused.most_common()),
            "levels": [(level, n) for level in LEVELS
                       if (n := sum(row.condition.level == level for row in rows))]}


def _visible(user, ids: list[int]) -> dict[int, Job]:
    """By id; for a member of a job on several nodes that job."""
    jobs = Job.objects.visible_to(user).filter(pk__in=ids)
    return {job.pk: job.gang.job if job.gang_id else job
            for job in jobs.listed().select_related("gang__job__engagement")}


def shares_of(user) -> list[dict]:
    """Cards that each project holds on all nodes, its quota and its jobs that wait; most first."""
    def counted(rows: QuerySet, column: str) -> Counter[int | None]:
        return Counter(dict(rows.order_by().values_list(column).annotate(n=Count("pk"))))

    held = counted(CardLease.objects.filter(released_at=None), "job__engagement")
    waiting = counted(Job.objects.whole().filter(state__in=WAITING_STATES), "engagement")
    quotas = dict(CardQuota.objects.values_list("engagement", "cards"))
    visible = dict(Engagement.objects.visible_to(user).filter(
        pk__in=[pk for pk in {*held, *waiting} if pk]).values_list("pk", "code"))
    rows: dict[str, dict] = {}
    for pk in {*held, *waiting}:
        name = visible.get(pk) or (_("another project") if pk else _("no project"))
        row = rows.setdefault(name, {"name": name, "held": 0, "waiting": 0, "quota": None})
        row["held"] += held[pk]
        row["waiting"] += waiting[pk]
        row["quota"] = quotas.get(pk) if pk in visible else None
    total = sum(held.values())
    for row in rows.values():
        row["percent"] = round(100 * row["held"] / total) if total else 0
    return sorted(rows.values(), key=lambda row: (-row["held"], row["name"]))


def queues_of(nodes: Iterable[Node], user, now: datetime) -> list[dict]:
    """Who runs on each node until when, and who waits in which place for what.

    Rows: `job` (None where the user may not see it), cards, and `expected`: end or start, None
    where nobody can say; `overdue`: jobs that run longer than their kind usually takes.
    """
    nodes = list(nodes)
    found, loads = conditions.conditions_of(nodes, now), card_queue.loads_of(nodes)
    jobs = [job for load in loads for job in load.jobs]
    seen, usual = _visible(user, [job.pk for job in jobs]), UsualDurations(jobs)
    ends = forecast.expected_ends(jobs, usual, now)
    is_waiting = any(job.state in WAITING_STATES for job in jobs)
    starts = forecast.forecasts(now) if is_waiting else {}
    return [{"node": load.node, "condition": found[load.node.pk], "free": len(load.free),
             "running": [_running(load, job, seen, ends[job.pk]) for job in load.running],
             "waiting": _waiting(load, seen, starts, now)} for load in loads]


def _running(load: card_queue.Load, job: Job, seen: dict[int, Job], end: datetime | None
             ) -> dict:
    return {"job": seen.get(job.pk), "state": job, "cards": load.cards_of(job), "expected": end}


def _waiting(load: card_queue.Load, seen: dict[int, Job], starts: dict[int, Forecast],
             now: datetime) -> list[dict]:
    others = [job for job in load.jobs if job.state in WAITING_STATES
              and (job.hold_reason or not job.cards_wanted)]
    rows = []
    for place, job in enumerate([*load.line, *others], 1):
        start = starts.get(job.pk, Forecast(None, forecast.UNKNOWN))
        rows.append({
            "job": seen.get(job.pk), "place": place if place <= len(load.line) else None,
            "cards": job.cards_wanted, "priority": job.get_priority_display(),
            "priority_code": job.priority, "expected": start.at,
            "expected_text": expected_text(start, seen, now), "reason": job.sentence})
    return rows


def expected_text(start: Forecast, seen: Container[int], now: datetime) -> str:
    """When a job may start, to the minute; or after what, where nobody can say."""
    if start.at is None:
        values = start.values
        if start.after is not None and start.after not in seen:
            values = {**values, "job": _("of another project")}
        return sentence_of(start.message, values)
    if start.at <= now:
        return _("at once, as soon as a worker looks")
    minute = timezone.localtime(start.at + timedelta(seconds=59))
    return _("starts about %(at)s") % {"at": f"{minute:%Y-%m-%d %H:%M}"}


def why_waiting(job: Job, user, now: datetime) -> list[dict]:
    """Of a job that waits, everything in its way on each of its nodes, as the user may know it:
    `node`, `sentences`, and for the first when its turn may come."""
    members = list(job.own_gang.present()) if job.nodes_wanted > 1 else [job]
    members = [each for each in members if each.node_id and each.state in WAITING_STATES]
    nodes = {each.node_id: each.node for each in members}
    if not members:
        return []
    starts, found = forecast.forecasts(now), conditions.conditions_of(nodes.values(), now)
    loads = {load.node.pk: load for load in card_queue.loads_of(nodes.values())}
    seen = _visible(user, [other.pk for load in loads.values() for other in load.jobs])
    rows = [{"node": each.node, "sentences": list(_in_the_way(
        each, loads[each.node_id], found[each.node_id], seen, user, now))} for each in members]
    if start := starts.get(members[0].pk):
        rows[0]["sentences"].append(_("Forecast: %(text)s.") % {
            "text": expected_text(start, seen, now)})
    return rows


def _in_the_way(job: Job, load: card_queue.Load, condition: Condition, seen: dict[int, Job], user,
                now: datetime) -> Iterator[str]:
    if job.hold_reason:
        yield sentence_of(HELD, {"reason": job.hold_reason})
    yield from (reason.sentence for reason in condition.reasons if reason.blocks)
    if job.cards_wanted and not load.node.scheduler:
        usable = len(usable_cards(load.node))
        holders = text_joining.listed(
            f"{n}{text_joining.bracketed(who)}" for who, n in Counter(
                _named(lease.job, seen) for lease in load.leases).items())
        free = _("It wants %(n)d of %(usable)d healthy cards, of which %(free)d are free.") % {
            "n": job.cards_wanted, "usable": usable, "free": len(load.free)}
        yield text_joining.following(free, holders and _("Held: %(holders)s.") % {
            "holders": holders})
        if len(load.free) >= job.cards_wanted and choose_cards(
                load.free, job.cards_wanted, load.node.ring_size) is None:
            yield _("No ring of %(n)d cards has enough of them free.") % {
                "n": load.node.ring_size}
    for obstacle in admission(load.node, now).obstacles(job):
        yield sentence_of(obstacle.message, obstacle.values)
    for one in NodeReservation.objects.visible_to(user).filter(
            node=load.node, ends_at__gt=now).exclude(engagement=job.engagement_id).select_related(
            "engagement").exclude(engagement=None):
        yield _("Reserved there: %(whom)s, %(reason)s.") % {
            "whom": one.engagement.code, "reason": one.reason}
    line = load.line
    if job in line and (ahead := line[:line.index(job)]):
        yield _("Ahead of it in the line: %(jobs)s.") % {"jobs": text_joining.listed(
            dict.fromkeys(_named(other, seen) for other in ahead))}


def _named(job: Job, seen: dict[int, Job]) -> str:
    return f"#{seen[job.pk].pk}" if job.pk in seen else _("another project")
