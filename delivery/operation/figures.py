"""What is going on, in figures: the same for Prometheus and for the operator's page."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.core.cache import cache
from django.db.models import Avg, Count, F, Max, Min, Q, Sum
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from assessments.models import Verdict
from delivery.notices.models import Dispatch
from delivery.operation import heartbeat
from delivery.operation.models import DamagedFile, FileRound
from delivery.reports.models import RenderJob
from engagements import database_clock
from workers.models import Artifact, Card, CardAlarm, CardLease, Job, Node, NodeSample
from workers.nodes.conditions import LEVELS, conditions_of

Values = Iterator[tuple[str | tuple[str, ...], float]]
CACHE_SECONDS = 10
RENDER_SPAN = timedelta(hours=1)
RECENT = timedelta(minutes=5)


@dataclass(frozen=True)
class Figure:
    """`read(now)` gives (label value, number); a figure without a label gives one with "", one of
    several labels a tuple. What stands on the page of nodes is `elsewhere`."""

    name: str  # in Prometheus, with its unit
    title: object
    read: Callable[[datetime], Values]
    label: str | tuple[str, ...] = ""
    elsewhere: bool = False

    @property
    def is_bytes(self) -> bool:
        return self.name.endswith("_bytes")


def _grouped(rows, column: str) -> Values:
    for value, count in rows.order_by().values_list(column).annotate(Count("pk")):
        yield str(value), count


def _open_jobs(now: datetime) -> Values:
    yield from _grouped(Job.objects.in_flight(), "state")


def _oldest_due_job(now: datetime) -> Values:
    """Seconds that the job has waited whose step has been due for longest and which nobody does."""
    due = Job.objects.in_flight().unclaimed(now).filter(next_step_at__lte=now)
    yield "", _age(now, due.aggregate(at=Min("next_step_at"))["at"])


def _nodes(now: datetime) -> Values:
    yield from _grouped(Node.objects.all(), "state")


def _unreachable(now: datetime) -> Values:
    yield "", Node.objects.exclude(state=Node.State.MAINTENANCE).exclude(
        unreachable_since=None).count()


def _conditions(now: datetime) -> Values:
    nodes = list(Node.objects.without_secrets())
    for pk, found in conditions_of(nodes, now).items():
        name = next(node.name for node in nodes if node.pk == pk)
        yield name, len(LEVELS) - 1 - found.rank


def _cards_held(now: datetime) -> Values:
    yield from _grouped(CardLease.objects.filter(released_at=None), "node__name")


def _card_alarms(now: datetime) -> Values:
    yield from _grouped(CardAlarm.objects.filter(cleared_at=None), "kind")


def _of_cards(column: str, factor: float = 1) -> Callable[[datetime], Values]:
    def read(now: datetime) -> Values:
        rows = Card.objects.exclude(**{column: None}).values_list("node__name", "index", column)
        for node, index, value in rows:
            yield (node, str(index)), value * factor
    return read


def _cards_busy(now: datetime) -> Values:
    """By the last look of each node, where it is of now."""
    looks = NodeSample.objects.filter(seconds=0, at__gte=now - RECENT).order_by("at")
    newest = dict(looks.values_list("node__name", "cards"))
    for node, cards in newest.items():
        for index, values in cards.items():
            if values[0] is not None:
                yield (node, index), values[0] / 100


def _node_disks(now: datetime) -> Values:
    for name, free in Node.objects.exclude(scratch_free_mb=None).values_list(
            "name", "scratch_free_mb"):
        yield name, free * 2**20


def _verdicts(now: datetime) -> Values:
    yield from _grouped(Verdict.objects.all(), "outcome")


def _waiting_files(now: datetime) -> Values:
    yield "", RenderJob.objects.due(now).count()


def _render_seconds(now: datetime) -> Values:
    done = RenderJob.objects.filter(state=RenderJob.State.DONE,
                                    finished_at__gte=now - RENDER_SPAN)
    mean = done.aggregate(mean=Avg(F("finished_at") - F("created_at")))["mean"]
    if mean is not None:
        yield "", mean.total_seconds()


def _failed_files(now: datetime) -> Values:
    yield "", RenderJob.objects.filter(state=RenderJob.State.FAILED).count()


def _notices(now: datetime) -> Values:
    wanted = Q(state=Dispatch.State.DEAD) | Q(state=Dispatch.State.PENDING)
    yield from _grouped(Dispatch.objects.filter(wanted), "state")


def _artifacts(now: datetime) -> Values:
    yield "", Artifact.objects.count()


def _artifact_bytes(now: datetime) -> Values:
    yield "", Artifact.objects.aggregate(sum=Sum("size"))["sum"] or 0


def _disk_free(now: datetime) -> Values:
    yield "", shutil.disk_usage(settings.VAR_DIR).free


def _disk_share(now: datetime) -> Values:
    usage = shutil.disk_usage(settings.VAR_DIR)
    yield "", usage.free / usage.total


def _worker_age(now: datetime) -> Values:
    yield "", heartbeat.worker_age_seconds(now)


def _clock_age(now: datetime) -> Values:
    yield "", heartbeat.clock_age_seconds()


def _clocks_ahead(now: datetime) -> Values:
    database_clock.look("portal")
    yield from database_clock.noted_ahead().items()


def _backup_age(now: datetime) -> Values:
    note = Path(settings.VAR_DIR) / "last-backup"
    if note.exists():
        yield "", now.timestamp() - note.stat().st_mtime


def _damaged(now: datetime) -> Values:
    yield "", DamagedFile.objects.open().count()


def _walk_age(now: datetime) -> Values:
    """No value before all files were read once."""
    ended = FileRound.objects.filter(is_open=False).aggregate(at=Max("ended_at"))["at"]
    if ended:
        yield "", _age(now, ended)


def _age(now: datetime, since: datetime | None) -> float:
    return max(0, (now - since).total_seconds()) if since else 0


FIGURES = (
    Figure("desk_jobs_open", _("Open jobs, by state"), _open_jobs, "state"),
    Figure("desk_oldest_due_job_seconds", _("Oldest overdue step of a job, seconds"),
           _oldest_due_job),
    Figure("desk_worker_age_seconds", _("Seconds since a worker last did a task"), _worker_age),
    Figure("desk_clock_age_seconds", _("Seconds since the clock process last ticked"), _clock_age),
    Figure("desk_clock_ahead_seconds", _("Seconds by which clocks are ahead of the database's"),
           _clocks_ahead, "process"),
    Figure("desk_nodes", _("Nodes, by state"), _nodes, "state"),
    Figure("desk_nodes_unreachable", _("Nodes that do not answer"), _unreachable),
    Figure("desk_node_condition", _("Nodes: 0 ready, 1 remark, 2 to look at, 3 in trouble"),
           _conditions, "node", elsewhere=True),
    Figure("desk_cards_held", _("Cards held, by node"), _cards_held, "node", elsewhere=True),
    Figure("desk_card_alarms", _("Open alarms of cards and nodes, by kind"), _card_alarms, "kind"),
    Figure("desk_card_temperature_celsius", _("Temperature of cards"), _of_cards("temperature_c"),
           ("node", "card"), elsewhere=True),
    Figure("desk_card_power_watts", _("Power of cards"), _of_cards("power_w"), ("node", "card"),
           elsewhere=True),
    Figure("desk_card_memory_used_bytes", _("Memory used of cards"),
           _of_cards("memory_used_mb", 2**20), ("node", "card"), elsewhere=True),
    Figure("desk_card_busy_ratio", _("Load of the AI cores by the last look"), _cards_busy,
           ("node", "card"), elsewhere=True),
    Figure("desk_node_disk_free_bytes", _("Free bytes beside the job folders"), _node_disks, "node",
           elsewhere=True),
    Figure("desk_files_waiting", _("Document files queued"), _waiting_files),
    Figure("desk_files_failed", _("Files of documents that could not be generated"),
           _failed_files),
    Figure("desk_file_seconds", _("Mean render time, last hour"), _render_seconds),
    Figure("desk_notices", _("Notices waiting and given up"), _notices, "state"),
    Figure("desk_verdicts", _("Verdicts, by outcome"), _verdicts, "outcome"),
    Figure("desk_artifacts", _("Stored files"), _artifacts),
    Figure("desk_artifact_bytes", _("Bytes of stored files"), _artifact_bytes),
    Figure("desk_disk_free_bytes", _("Free bytes in the data folder"), _disk_free),
    Figure("desk_disk_free_ratio", _("Free share of the data folder's disk"), _disk_share),
    Figure("desk_backup_age_seconds", _("Seconds since the last backup"), _backup_age),
    Figure("desk_files_damaged", _("Stored files found damaged"), _damaged),
    Figure("desk_files_read_age_seconds", _("Seconds since all stored files were last read again"),
           _walk_age),
)


def read_figures() -> dict[str, list[tuple[str, float]]]:
    """{figure's name: [(label value, number)]}; read anew at most every ten seconds."""
    def read() -> dict:
        now = timezone.now()
        return {figure.name: list(figure.read(now)) for figure in FIGURES}

    return cache.get_or_set("operation-figures", read, CACHE_SECONDS)
