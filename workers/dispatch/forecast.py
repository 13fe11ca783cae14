"""When waiting jobs may start: the queue of all nodes played forward by the rules of the dispatch.

Running jobs end when such jobs usually do, else at their time limit; of one beyond both nobody can
say when. Cards, rings, reservations, maintenance, quotas and jobs on several nodes are minded as
`card_queue`, `admission` and `gang_turns` mind them, so that no forecast is earlier than what the
dispatch would do if the jobs took that long.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.utils.translation import gettext_noop

from workers.dispatch import gang_turns
from workers.dispatch.sentences import HELD, NEVER_IN_QUOTA, TOO_FEW_CARDS
from workers.dispatch.usual_durations import UsualDurations
from workers.models import CardLease, CardQuota, Gang, Job, Node, NodeReservation
from workers.models.job import OPEN_STATES, WAITING_STATES, JobState
from workers.nodes.card_leases import choose_cards, usable_cards

NODE = gettext_noop("cannot be estimated: the node starts no job")
OVERDUE = gettext_noop("after job %(job)s, which runs beyond its time limit")
BEHIND = gettext_noop("after job %(job)s, of which nobody can say when it starts")
UNKNOWN = gettext_noop("cannot be estimated")


@dataclass(frozen=True)
class Forecast:
    """When a job may start, or why nobody can say; `after` is the job that the sentence names."""

    at: datetime | None
    message: str = ""
    values: dict = field(default_factory=dict)
    after: int | None = None


@dataclass
class _Run:
    job: Job
    cards: list[int]
    end: datetime | None  # by how long such jobs usually take
    limit: datetime


@dataclass
class _Board:
    """One node: what runs, who waits, what is promised."""

    node: Node
    usable: list[int]
    runs: list[_Run] = field(default_factory=list)
    waiting: list[Job] = field(default_factory=list)
    promises: list[NodeReservation] = field(default_factory=list)

    def free(self) -> list[int]:
        busy = {card for run in self.runs for card in run.cards}
        return [card for card in self.usable if card not in busy]

    def chosen(self, job: Job) -> list[int] | None:
        """Cards for the job; None while too few are free or no ring has enough."""
        if not job.cards_wanted:
            return []
        return choose_cards(self.free(), job.cards_wanted, self.node.ring_size)

    def line(self) -> list[Job]:
        share: Counter[int | None] = Counter()
        for run in self.runs:
            share[run.job.engagement_id] += len(run.cards)
        return sorted(self.waiting, key=lambda job: (
            -job.priority, share[job.engagement_id], job.pk))


def expected_ends(jobs: Iterable[Job], usual: UsualDurations, now: datetime
                  ) -> dict[int, datetime | None]:
    """By job that was started, when it may end: by itself, or by the maintenance that stops it."""
    stops = dict(NodeReservation.objects.filter(stops_jobs_at__gt=now)
                 .order_by("-stops_jobs_at").values_list("node", "stops_jobs_at"))
    return {job.pk: _by_stop(expected_end(job, usual, now), stops.get(job.node_id))
            for job in jobs}


def _by_stop(end: datetime | None, stop: datetime | None) -> datetime | None:
    return min(filter(None, (end, stop)), default=None)


def expected_end(job: Job, usual: UsualDurations, now: datetime) -> datetime | None:
    """When a job that was started may end by itself: by its progress, by its kind, at last by its
    limit; None beyond that, as nobody can say."""
    if job.started_at and job.progress_done and job.progress_done < (job.progress_total or 0):
        elapsed = now - job.started_at
        return now + elapsed / job.progress_done * (job.progress_total - job.progress_done)
    start = job.started_at or job.created_at
    is_done = job.progress_total and job.progress_done == job.progress_total
    ends = (start + usual.of(job), *(() if is_done else (_limit(job, start),)))
    return next((end for end in ends if end > now), None)


def _limit(job: Job, start: datetime) -> datetime:
    return start + timedelta(seconds=job.timeout_seconds)


def forecasts(now: datetime) -> dict[int, Forecast]:
    """By job that waits, members of jobs on several nodes among them; on a cluster its scheduler
    decides."""
    play = _Play(now)
    play.run()
    return play.found | {job.pk: next(play.why_not(board, job))
                         for board in play.boards.values() for job in board.waiting}


class _Play:
    """The queue of all nodes from now on."""

    def __init__(self, now: datetime) -> None:
        self.now, self.found = now, {}
        nodes = Node.objects.filter(scheduler="").without_secrets().prefetch_related("cards")
        self.boards = {node.pk: _Board(node, usable_cards(node)) for node in nodes}
        jobs = list(Job.objects.filter(node__scheduler="", state__in=OPEN_STATES).defer(
            *Job.LONG_COLUMNS).select_related("gang__job").order_by("pk"))
        self.usual = UsualDurations(jobs)
        held: dict[int, list[int]] = {}
        for pk, card in CardLease.objects.filter(released_at=None).values_list(
                "job", "card_index"):
            held.setdefault(pk, []).append(card)
        for job in jobs:
            self._place(job, held.get(job.pk, []))
        for one in NodeReservation.objects.filter(node__scheduler="", ends_at__gt=now):
            self.boards[one.node_id].promises.append(one)
        for board in self.boards.values():
            _mind_stops(board)
        self.quotas = dict(CardQuota.objects.order_by().values_list("engagement", "cards"))
        self.gangs: dict[int, list[tuple[_Board, Job]]] = {}
        for board in self.boards.values():
            for job in board.waiting:
                if job.gang_id:
                    self.gangs.setdefault(job.gang_id, []).append((board, job))

    def _place(self, job: Job, cards: list[int]) -> None:
        board = self.boards[job.node_id]
        if not cards and job.hold_reason:
            self.found[job.pk] = Forecast(None, HELD, {"reason": job.hold_reason})
        elif not cards and job.state in (*WAITING_STATES, JobState.STAGING):
            board.waiting.append(job)
        elif cards:
            board.runs.append(_Run(job, cards, expected_end(job, self.usual, self.now),
                                   _limit(job, job.started_at or self.now)))

    def run(self) -> None:
        """Start what may start, let the next job end or the next promise begin or end, and on."""
        at: datetime | None = self.now
        while at and any(board.waiting for board in self.boards.values()):
            for board in self.boards.values():
                board.runs = [run for run in board.runs if run.end is None or run.end > at]
            while self._starts(at):
                pass
            at = min(self._moments(at), default=None)

    def _moments(self, after: datetime) -> Iterator[datetime]:
        for board in self.boards.values():
            times = (*(run.end for run in board.runs), *(
                time for one in board.promises for time in (one.starts_at, one.ends_at)))
            yield from (time for time in times if time and time > after)

    def _starts(self, at: datetime) -> bool:
        """Start one job that may, of several the oldest; False if there is none."""
        turns = [(board, job) for board in self.boards.values() if board.node.is_ready
                 for job in self._at_turn(board, at)]
        for board, job in sorted(turns, key=lambda turn: _whole(turn[1])):
            members = self.gangs[job.gang_id] if job.gang_id else [(board, job)]
            if all(self._may_start(each, member, at) for each, member in members):
                for each, member in members:
                    self._start(each, member, at)
                return True
        return False

    def _may_start(self, board: _Board, job: Job, at: datetime) -> bool:
        return (board.node.is_ready and job in self._at_turn(board, at)
                and not self.is_obstructed(board, job, at) and board.chosen(job) is not None)

    def _start(self, board: _Board, job: Job, at: datetime) -> None:
        cards = board.chosen(job)
        board.waiting.remove(job)
        if cards:
            board.runs.append(_Run(job, cards, at + self.usual.of(job), _limit(job, at)))
        self.found[job.pk] = Forecast(at)

    def _at_turn(self, board: _Board, at: datetime) -> list[Job]:
        """Jobs that nobody ahead of them holds back."""
        found: list[Job] = [job for job in board.waiting if not job.cards_wanted]
        ahead: list[Job] = []
        for job in board.line():
            if not job.cards_wanted:
                continue
            if all(other.gang_id and self._lets_pass(other, job, at) for other in ahead):
                found.append(job)
            if job.cards_wanted <= len(board.usable) and not self.is_obstructed(board, job, at):
                ahead.append(job)
                if not job.gang_id:
                    break
        return found

    def _lets_pass(self, member: Job, job: Job, at: datetime) -> bool:
        """As `gang_turns.lets_pass`."""
        members = self.gangs[member.gang_id]
        if member.gang_id == job.gang_id or not self._can_start_ever(members) or any(
                self.is_obstructed(board, each, at) for board, each in members):
            return True
        if job.gang_id:
            return gang_turns.order(job) < gang_turns.order(member)
        boards = {board.node.pk for board, _each in members}
        if any(gang_turns.order(other[0][1]) < gang_turns.order(member)
               and self._can_start_ever(other) for pk, other in self.gangs.items()
               if pk != member.gang_id and other[0][1].pk not in self.found
               and boards & {board.node.pk for board, _each in other}):
            return True
        start = max(self._enough_free(board, each, at) for board, each in members)
        return _limit(job, at) <= start

    @staticmethod
    def _can_start_ever(members: list[tuple[_Board, Job]]) -> bool:
        return all(board.node.is_ready and len(board.usable) >= job.cards_wanted
                   for board, job in members)

    @staticmethod
    def _enough_free(board: _Board, job: Job, at: datetime) -> datetime:
        ends = sorted(run.limit for run in board.runs for _card in run.cards)
        missing = job.cards_wanted - (len(board.usable) - len(ends))
        return at if missing <= 0 else ends[min(missing, len(ends)) - 1]

    def is_obstructed(self, board: _Board, job: Job, at: datetime) -> bool:
        """Whether a promise is in the job's way, as `admission.Admission.obstacle`."""
        if job.cards_wanted and job.engagement_id in self.quotas:
            wanted = job.gang.job.cards_total if job.gang_id else job.cards_wanted
            if self._held(job.engagement_id) + wanted > self.quotas[job.engagement_id]:
                return True
        end, usable = at + self.usual.of(job), len(board.usable)
        near = [one for one in board.promises if one.starts_at < end and one.ends_at > at]
        if any(one.engagement_id is None for one in near):
            return True
        others = [one for one in near if one.engagement_id != job.engagement_id]
        for one in others if job.cards_wanted else ():
            moment = max(at, one.starts_at)
            reserved = {two.engagement_id: min(two.cards or usable, usable) for two in others
                        if two.starts_at <= moment < two.ends_at}
            taken = sum(reserved.values()) + sum(
                len(run.cards) for run in board.runs if run.job.engagement_id not in reserved
                and (moment == at or run.end is None or run.end > moment))
            if taken + job.cards_wanted > usable:
                return True
        return False

    def _held(self, engagement: int) -> int:
        return sum(len(run.cards) for board in self.boards.values() for run in board.runs
                   if run.job.engagement_id == engagement)

    def why_not(self, board: _Board, job: Job) -> Iterator[Forecast]:
        """Of a job that is still waiting at the end of the play; the first is what is said."""
        members = self.gangs.get(job.gang_id, [(board, job)])
        if not all(each.node.is_ready for each, _member in members):
            yield Forecast(None, NODE)
        for each, member in members:
            if member.cards_wanted > len(each.usable):
                yield Forecast(None, TOO_FEW_CARDS, {"n": member.cards_wanted,
                                                     "usable": len(each.usable)})
        quota = self.quotas.get(job.engagement_id)
        if quota is not None and job.cards_wanted > quota:
            yield Forecast(None, NEVER_IN_QUOTA, {"n": job.cards_wanted, "quota": quota})
        for each, _member in members:
            yield from (_after(OVERDUE, run.job) for run in each.runs if run.end is None)
        for each, member in members:
            line = each.line()
            yield from (_after(BEHIND, other) for other in line[:line.index(member)])
        for each in self.boards.values():  # where its quota is used up
            yield from (_after(OVERDUE, run.job) for run in each.runs if run.end is None
                        and run.job.engagement_id == job.engagement_id)
        yield Forecast(None, UNKNOWN)


def _mind_stops(board: _Board) -> None:
    """A maintenance that stops jobs ends what runs then."""
    stop = min((one.stops_jobs_at for one in board.promises if one.stops_jobs_at), default=None)
    for run in board.runs if stop else ():
        run.end, run.limit = _by_stop(run.end, stop), min(run.limit, stop)


def _after(message: str, job: Job) -> Forecast:
    return Forecast(None, message, {"job": f"#{_whole(job)}"}, job.pk)


def _whole(job: Job) -> int:
    return job.gang.job_id if job.gang_id else job.pk


def of_job(job: Job, now: datetime) -> Forecast | None:
    """Of a job that waits; of one on several nodes that of its members, which start together."""
    first = Gang.objects.get(job=job).present().first() if job.nodes_wanted > 1 else job
    return forecasts(now).get(first.pk) if first else None
