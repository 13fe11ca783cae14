"""Whether a job may start now: maintenance windows, reservations of others, its own quota.

A job that runs is never stopped for another one: what was promised to others is kept free by not
starting what would be in the way.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property

from django.db import transaction
from django.db.models import Count
from django.utils import timezone
from django.utils.translation import gettext_noop

from workers.dispatch.sentences import NEVER_IN_QUOTA, RESERVED
from workers.dispatch.usual_durations import UsualDurations
from workers.models import CardLease, CardQuota, Job, Node, NodeReservation
from workers.nodes.card_leases import usable_cards

UNDER_MAINTENANCE = gettext_noop(
    "Waiting: maintenance of the node until %(end)s (%(reason)s).")
BEFORE_MAINTENANCE = gettext_noop(
    "Waiting: maintenance of the node begins at %(start)s (%(reason)s); such a job usually takes "
    "%(minutes)d min and would not end before. It starts after %(end)s.")
OVER_QUOTA = gettext_noop(
    "Waiting: the engagement may hold %(quota)d cards at once and holds %(held)d; the job wants "
    "%(n)d.")


@dataclass(frozen=True)
class Obstacle:
    """Why a job does not start now: a sentence's message id and its values."""

    message: str
    values: dict


@dataclass
class Admission:
    """The promises that bear on jobs of a node, loaded once for all of them.

    How long jobs of a kind usually take is looked up once, and only where a promise is near.
    """

    node: Node
    now: datetime
    reservations: list[NodeReservation]
    _durations: dict[str, UsualDurations] = field(default_factory=dict)

    @cached_property
    def quotas(self) -> dict[int, int]:
        return dict(CardQuota.objects.order_by().values_list("engagement", "cards"))

    @cached_property
    def held(self) -> dict[int, int]:
        """Cards by engagement, on all nodes."""
        return _held_by(self.quotas) if self.quotas else {}

    def obstacle(self, job: Job) -> Obstacle | None:
        """The first promise in the job's way."""
        return next(self.obstacles(job), None)

    def obstacles(self, job: Job) -> Iterator[Obstacle]:
        """All of them: quota, maintenance, reservations of others."""
        if self._is_limited(job) and (over := self._over_quota(job)):
            yield over
        if not self.reservations:
            return
        end = self.now + self._usual_duration(job)
        near = [one for one in self.reservations if one.starts_at < end]
        yield from filter(None, (self._maintenance(near, end), self._reserved(job, near)))

    @contextmanager
    def exclusively_for(self, job: Job) -> Iterator[None]:
        """While it lasts, no other job of an engagement with a quota is admitted on any node."""
        if not self._is_limited(job):
            yield
            return
        with transaction.atomic():
            quota = CardQuota.objects.select_for_update(of=("self",), no_key=True)
            list(quota.filter(engagement=job.engagement_id).values_list("pk"))
            self.held = {**self.held, **_held_by([job.engagement_id])}
            yield

    def _is_limited(self, job: Job) -> bool:
        return bool(job.cards_wanted) and job.engagement_id in self.quotas

    def _over_quota(self, job: Job) -> Obstacle | None:
        quota, held = self.quotas[job.engagement_id], self.held.get(job.engagement_id, 0)
        wanted = job.gang.job.cards_total if job.gang_id else job.cards_wanted
        values = {"quota": quota, "held": held, "n": wanted}
        if wanted > quota:
            return Obstacle(NEVER_IN_QUOTA, values)
        return Obstacle(OVER_QUOTA, values) if held + wanted > quota else None

    def _maintenance(self, near: Iterable[NodeReservation], end: datetime) -> Obstacle | None:
        for one in near:
            if one.engagement_id is None:
                is_on = one.starts_at <= self.now
                return Obstacle(UNDER_MAINTENANCE if is_on else BEFORE_MAINTENANCE, {
                    **_times(one), "reason": one.reason,
                    "minutes": max(1, round((end - self.now) / timedelta(minutes=1)))})
        return None

    def _reserved(self, job: Job, near: Iterable[NodeReservation]) -> Obstacle | None:
        """Cards that others hold beyond the start, the job's own and those reserved must fit."""
        usable = len(usable_cards(self.node))
        others = [one for one in near if one.engagement_id not in (None, job.engagement_id)]
        for one in others if job.cards_wanted else []:
            at = max(self.now, one.starts_at)
            reserved = {two.engagement_id: min(two.cards or usable, usable) for two in others
                        if two.starts_at <= at < two.ends_at}
            taken = sum(reserved.values()) + self._held_at(at, set(reserved))
            if taken + job.cards_wanted > usable:
                return Obstacle(RESERVED, {**_times(one), "cards": min(one.cards or usable,
                                                                      usable)})
        return None

    def _usual_duration(self, job: Job) -> timedelta:
        if job.kind not in self._durations:
            self._durations[job.kind] = UsualDurations([job])
        return self._durations[job.kind].of(job)

    def _held_at(self, at: datetime, without: set[int]) -> int:
        """Cards of the node that jobs of engagements without a reservation may hold then."""
        leases = CardLease.objects.filter(node=self.node, released_at=None).exclude(
            job__engagement__in=without).select_related("job")
        return sum((lease.job.started_at or self.now) + self._usual_duration(lease.job) > at
                   for lease in leases) if at > self.now else len(leases)


def admission(node: Node, now: datetime) -> Admission:
    """The promises that bear on the node's jobs."""
    return Admission(node, now, list(NodeReservation.objects.filter(node=node, ends_at__gt=now)))


def _held_by(engagements: Iterable[int]) -> dict[int, int]:
    leases = CardLease.objects.filter(released_at=None, job__engagement__in=engagements)
    return dict(leases.order_by().values_list("job__engagement").annotate(n=Count("pk")))


def _times(one: NodeReservation) -> dict[str, str]:
    return {"start": _shown(one.starts_at), "end": _shown(one.ends_at)}


def _shown(at: datetime) -> str:
    return f"{timezone.localtime(at):%Y-%m-%d %H:%M}"
