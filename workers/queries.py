"""Reads that several doors share."""

from datetime import datetime

from django.db.models import Count, Q, QuerySet

from workers.dispatch import queueing
from workers.models import Job, Node
from workers.models.job import OPEN_STATES
from workers.nodes.leases import free_cards, held_cards


def filtered_jobs(jobs: QuerySet, params) -> QuerySet:
    """The list's filter: engagement code, kind, state, node."""
    for name, field in (("engagement", "engagement__code"), ("kind", "kind"),
                        ("state", "state"), ("node", "node__name")):
        if params.get(name):
            jobs = jobs.filter(**{field: params[name]})
    return jobs.select_related("engagement", "model", "node", "created_by")


def nodes_with_load(nodes: QuerySet) -> QuerySet:
    """Nodes with `held`, the number of leased cards, and `waiting`, of jobs in their line."""
    held = Count("leases", filter=Q(leases__released_at=None), distinct=True)
    waiting = Count("jobs", distinct=True,
                    filter=Q(jobs__state__in=queueing.WAITING))
    return nodes.annotate(held=held, waiting=waiting)


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
    jobs = Job.objects.visible_to(user).filter(pk__in=ids)
    return {job.pk: job for job in jobs.select_related("engagement", "node")}


def queue_of(node: Node, user, now: datetime) -> dict:
    """Who runs on the node until when, and who waits in which place for what.

    Rows: `job` (None where the user may not see it), cards, and `expected`: end or start.
    """
    open_jobs = Job.objects.filter(node=node, state__in=OPEN_STATES).order_by("pk")
    running = list(open_jobs.exclude(state__in=queueing.WAITING))
    without_cards = open_jobs.filter(state__in=queueing.WAITING, cards_wanted=0)
    waiting = [*queueing.outlook(node, now), *((job, now) for job in without_cards)]
    seen = _visible(user, [job.pk for job in (*running, *(job for job, _start in waiting))])
    ready = node.state == Node.State.READY and node.unreachable_since is None
    usual = queueing.UsualDurations()
    return {
        "node": node, "free": len(free_cards(node)),
        "running": [{"job": seen.get(job.pk), "state": job, "cards": held_cards(job),
                     "expected": max(now, queueing.expected_end(job, usual))} for job in running],
        "waiting": [{"job": seen.get(job.pk), "place": place if job.cards_wanted else None,
                     "cards": job.cards_wanted,
                     "priority": job.get_priority_display(),
                     "priority_code": job.priority, "expected": start if ready else None,
                     "reason": job.sentence}
                    for place, (job, start) in enumerate(waiting, 1)]}
