"""Card hours of agents: reserved when a job is queued, settled by what it used."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.db.models import F, Q, Sum, Value
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext as _

from engagements.errors import DeskError
from engagements.models import Agent, Engagement
from workers.models import CardLease, Job
from workers.models.job import FINAL_STATES, JobQuerySet

HOUR = Decimal(3600)
HOLDERS = ("job", "job__gang__job")  # whose a lease is: a job's, or of the whole that it belongs to


class BudgetExceeded(DeskError):
    """A job of an agent wants more card hours than are left to it."""

    code = "budget_exceeded"
    status = 409


@dataclass(frozen=True)
class Hours:
    """Of an agent's jobs: what they used, what those that have not ended may still use, and what is
    left of all limits, whichever is least: of its own in all and today, and of its engagement's,
    which `engagement_left` says alone (None: it has no limit)."""

    used: Decimal
    reserved: Decimal
    left: Decimal
    engagement_left: Decimal | None = None


@dataclass(frozen=True)
class Spent:
    """By jobs, whoever queued them: those that have ended, and may still be by those that have not;
    today's of both."""

    used: Decimal
    reserved: Decimal
    of_today: Decimal


def hours_of(agent: Agent, without: Job | None = None) -> Hours:
    """Retries, steps of chains and restarts count as any job does: one that has ended by what it
    used, one that has not by its cards for its time limit, or what it has used if that is more."""
    own = _spent(Job.objects.filter(agent=agent), without)
    left = [agent.hours_limit - own.used - own.reserved, agent.hours_per_day - own.of_today]
    of_all = engagement_left(agent.engagement, without)
    left += [] if of_all is None else [of_all]
    return Hours(own.used, own.reserved, max(min(left), Decimal(0)), of_all)


def engagement_left(engagement: Engagement, without: Job | None = None) -> Decimal | None:
    """Of what all its agents may use together; None where that has no limit."""
    if engagement.agent_hours_limit is None:
        return None
    spent = _spent(Job.objects.filter(agent__engagement=engagement), without)
    return max(engagement.agent_hours_limit - spent.used - spent.reserved, Decimal(0))


def _spent(jobs: JobQuerySet, without: Job | None) -> Spent:
    """Ended jobs are summed by the database; open ones are as few as fit into the limits."""
    today = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    held = Coalesce(F("released_at"), Value(timezone.now())) - F("taken_at")
    used, of_today = Decimal(0), Decimal(0)
    taken: dict[int, Decimal] = {}
    ended = jobs.filter(state__in=sorted(FINAL_STATES)).order_by().values("pk")
    open_jobs = list(jobs.in_flight().filter(cards_wanted__gt=0).exclude(
        pk=without and without.pk).select_related("own_gang"))
    for holder in HOLDERS:
        sums = CardLease.objects.filter(**{f"{holder}__in": ended}).aggregate(
            all=Sum(held), today=Sum(held, filter=Q(**{f"{holder}__finished_at__gte": today})))
        used, of_today = used + _hours(sums["all"]), of_today + _hours(sums["today"])
        for pk, time in CardLease.objects.filter(**{f"{holder}__in": open_jobs}).order_by(
                ).values_list(holder).annotate(time=Sum(held)):
            taken[pk] = taken.get(pk, Decimal(0)) + _hours(time)
    reserved = sum((max(taken.get(job.pk, Decimal(0)), wanted_by(job)) for job in open_jobs),
                   Decimal(0))
    return Spent(used, reserved, of_today + reserved)


def _hours(time: timedelta | None) -> Decimal:
    return Decimal((time or timedelta()).total_seconds()) / HOUR


def wanted_by(job: Job) -> Decimal:
    """The card hours that a job may use at most."""
    rounds = 1 + (job.own_gang.restarts_allowed if job.nodes_wanted > 1 else 0)
    return card_hours(job.cards_total, job.timeout_seconds, rounds)


def card_hours(cards: int, seconds: int, rounds: int) -> Decimal:
    """Of cards that are held for as long as the time limit of each round lets them be."""
    return Decimal(cards * seconds * rounds) / HOUR


def reserve(job: Job) -> None:
    """Raise BudgetExceeded where an agent's new job wants more than is left, in the transaction
    that queues it: the engagement's lock lets one of its agents' jobs through at a time."""
    wanted = wanted_by(job)
    if not wanted:
        return
    agent = Agent.objects.get(pk=job.agent_id)
    agent.engagement = Engagement.objects.select_for_update(of=("self",), no_key=True).get(
        pk=agent.engagement_id)
    hours = hours_of(agent, without=job)
    if wanted <= hours.left:
        return
    text = _("The job may use %(wanted)s card hours; %(left)s are left to the agent “%(agent)s”. "
             "Fewer cards or a shorter time limit fit, or a person raises its limit.")
    if hours.left == hours.engagement_left:
        text = _("The job may use %(wanted)s card hours; %(left)s are left to all agents of the "
                 "project. Fewer cards or a shorter time limit fit, or a person raises the limit.")
    raise BudgetExceeded(text % {
        "wanted": f"{wanted:.2f}", "left": f"{hours.left:.2f}", "agent": agent.name},
        wanted=f"{wanted:.2f}", left=f"{hours.left:.2f}")
