"""Queries shared by pages and API."""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Count, Q, QuerySet, prefetch_related_objects

from workers.dispatch import card_queue
from workers.dispatch.usual_durations import UsualDurations
from workers.models import CardLease, Gang, Job, Node
from workers.models.job import WAITING_STATES


def filtered_jobs(jobs: QuerySet, params) -> QuerySet:
    """The list's filter: engagement code, kind, state, node."""
    for name, field in (("engagement", "engagement__code"), ("kind", "kind"),
                        ("state", "state")):
        if params.get(name):
            jobs = jobs.filter(**{field: params[name]})
    if node := params.get("node"):
        jobs = jobs.filter(_on_node(node))
    return jobs.select_related("engagement", "model", "node", "created_by")


def _on_node(name: str) -> Q:
    """Jobs of a node, and jobs on several nodes with a member there. Its key and no join, where
    there is none of those: then the index of the node's jobs is read in order."""
    nodes = list(Node.objects.filter(name=name).values_list("pk", flat=True))
    gangs = Gang.objects.filter(members__node__in=nodes)
    return Q(node__in=nodes) | Q(own_gang__in=gangs) if gangs.exists() else Q(node__in=nodes)


def nodes_with_load(nodes: Iterable[Node]) -> list[Node]:
    """These nodes with `held`, the number of leased cards, and `waiting`, of jobs in their line;
    as many queries for many as for one."""
    nodes = list(nodes)
    prefetch_related_objects(nodes, "cards")
    held = _counts(CardLease.objects.filter(node__in=nodes, released_at=None))
    waiting = _counts(Job.objects.filter(node__in=nodes, state__in=WAITING_STATES))
    for node in nodes:
        node.held, node.waiting = held.get(node.pk, 0), waiting.get(node.pk, 0)
    return nodes


def _counts(rows: QuerySet) -> dict[int, int]:
    """Rows by node."""
    return dict(rows.order_by().values_list("node").annotate(count=Count("pk")))


def cards_with_holders(node: Node, user) -> list[dict]:
    """The node's cards with the job that holds each; known by number where never read.

    `job` is None for a job that the user may not see, `is_held` is true all the same.
    """
    leases = {lease.card_index: lease for lease in
              node.leases.filter(released_at=None).select_related("job")}
    seen = _visible(user, [lease.job_id for lease in leases.values()])
    known = {card.index: card for card in node.cards.all()}
    indexes = sorted({*(known or range(node.cards_total)), *leases})
    return [{"index": i, "card": known.get(i), "is_held": i in leases,
             "job": seen.get(leases[i].job_id) if i in leases else None,
             "fence": leases[i].fence if i in leases else None} for i in indexes]


def _visible(user, ids: list[int]) -> dict[int, Job]:
    """By id; for a member of a job on several nodes that job."""
    jobs = Job.objects.visible_to(user).filter(pk__in=ids)
    return {job.pk: job.gang.job if job.gang_id else job
            for job in jobs.listed().select_related("gang__job__engagement")}


def queues_of(nodes: Iterable[Node], user, now: datetime) -> list[dict]:
    """Who runs on each node until when, and who waits in which place for what.

    Rows: `job` (None where the user may not see it), cards, and `expected`: end or start, None
    where nobody can say; `overdue`: jobs that run longer than their kind usually takes.
    """
    loads = card_queue.loads_of(nodes)
    jobs = [job for load in loads for job in load.jobs]
    seen, usual = _visible(user, [job.pk for job in jobs]), UsualDurations(jobs)
    ends = {job.pk: card_queue.expected_end(job, usual, now) for job in jobs}
    return [{"node": load.node, "free": len(load.free),
             "running": [_running(load, job, seen, ends[job.pk]) for job in load.running],
             "waiting": _waiting(load, seen, now, usual),
             "overdue": [job for job in load.running if ends[job.pk] is None]} for load in loads]


def _running(load: card_queue.Load, job: Job, seen: dict[int, Job], end: datetime | None
             ) -> dict:
    return {"job": seen.get(job.pk), "state": job, "cards": load.cards_of(job), "expected": end}


def _waiting(load: card_queue.Load, seen: dict[int, Job], now: datetime,
             usual: UsualDurations) -> list[dict]:
    ready = load.node.is_ready
    without_cards = [job for job in load.jobs
                     if job.state in WAITING_STATES and not job.cards_wanted]
    rows = [*card_queue.outlook(load, now, usual), *((job, now) for job in without_cards)]
    return [{"job": seen.get(job.pk), "place": place if job.cards_wanted else None,
             "cards": job.cards_wanted, "priority": job.get_priority_display(),
             "priority_code": job.priority, "expected": start if ready else None,
             "reason": job.sentence} for place, (job, start) in enumerate(rows, 1)]
