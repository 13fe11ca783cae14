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
from workers.models import Artifact, Job, Node

Values = Iterator[tuple[str, float]]
CACHE_SECONDS = 10
RENDER_SPAN = timedelta(hours=1)


@dataclass(frozen=True)
class Figure:
    """`read(now)` gives (label value, number); a figure without a label gives one with ""."""

    name: str  # in Prometheus, with its unit
    title: object
    read: Callable[[datetime], Values]
    label: str = ""


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


def _verdicts(now: datetime) -> Values:
    yield from _grouped(Verdict.objects.all(), "outcome")


def _waiting_files(now: datetime) -> Values:
    yield "", RenderJob.objects.due(now).count()


def _render_seconds(now: datetime) -> Values:
    done = RenderJob.objects.filter(state=RenderJob.State.DONE,
                                    finished_at__gte=now - RENDER_SPAN)
    mean = done.aggregate(mean=Avg(F("finished_at") - F("created_at")))["mean"]
    yield "", mean.total_seconds() if mean else 0


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
    Figure("desk_nodes", _("Nodes, by state"), _nodes, "state"),
    Figure("desk_nodes_unreachable", _("Nodes that do not answer"), _unreachable),
    Figure("desk_files_waiting", _("Files of documents waiting to be generated"), _waiting_files),
    Figure("desk_files_failed", _("Files of documents that could not be generated"),
           _failed_files),
    Figure("desk_file_seconds", _("From order to file in the last hour, mean seconds"),
           _render_seconds),
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
