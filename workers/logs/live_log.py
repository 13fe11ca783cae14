"""The log of a job: fetched by byte offset, masked, kept beside the database while it grows.

Of a job that has ended the stored file is read, and `workers.dispatch.cleanup` removes ours.
"""

import contextlib
import math
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from django.conf import settings
from django.core.files.storage import FileSystemStorage, default_storage
from django.utils import timezone

from toolreaders.masking import LONGEST_LINE, mask_bytes, safe_cut
from workers.logs import early_warnings
from workers.models import Job, JobLog
from workers.remote.replies import RemoteState

_ITERATION = re.compile(
    rb"(?:iteration|step|iter)[:\s]*\[?\s*(\d+)\s*/\s*(\d+)|(\d{1,3})%\|")
CUT_HERE = ("\n[Delivery Desk] 日志超过上限，其余部分未保存；作业继续运行。 / The log is above the "
            "limit; the rest is not stored, the job goes on.\n").encode()
LOG_NAME = "log.txt"  # of the stored file


def folder() -> Path:
    """Where logs grow: one file per job, named by its id."""
    found = Path(settings.LIVE_LOG_DIR or settings.VAR_DIR / "live-logs")
    found.mkdir(parents=True, exist_ok=True)
    return found


def path(job: Job | JobLog) -> Path:
    """Where the masked log of this job, or a further one of it, grows."""
    if isinstance(job, Job):
        return folder() / f"{job.pk}.log"
    found = folder() / job.live_name
    found.parent.mkdir(exist_ok=True)
    return found


def arrivals(job: Job) -> Path:
    """Where each part of the log of one of several nodes begins, and when it was fetched."""
    return folder() / f"{job.pk}.times"


@contextmanager
def opened(job: Job | JobLog) -> Iterator[BinaryIO | None]:
    """The masked log for reading; None where there is none yet.

    A worker that was away too long may still write where a log grew: not into a stored one.
    """
    sources: list[Callable] = [lambda: path(job).open("rb"), lambda: _stored(job)]
    # A part of a stored file can then be read without fetching the whole.
    is_stored_near = job.is_final and isinstance(default_storage, FileSystemStorage)
    stream = None
    for source in reversed(sources) if is_stored_near else sources:
        with contextlib.suppress(FileNotFoundError):
            if stream := source():
                break
    try:
        yield stream
    finally:
        if stream:
            stream.close()


def _stored(job: Job | JobLog) -> BinaryIO | None:
    """The stored log, if the job has one."""
    if not job.log_stored:
        return None
    name = LOG_NAME if isinstance(job, Job) else job.artifact_name
    artifact = job.artifacts.filter(name=name).first()
    return artifact and artifact.file.open("rb")


def append(job: Job, state: RemoteState) -> dict:
    """Add the new part of the log. Returns the columns that changed.

    Only whole lines are taken while the job runs, so that no secret is cut in two. The bytes go
    to the place the row names: repeating the step after a crash writes the same bytes there.
    """
    chunk = state.chunk
    if state.process != "gone" or state.has_more_log:
        chunk = chunk[:safe_cut(chunk)]
    if not chunk:
        return {}
    masked = within_limit(job, mask_bytes(chunk))
    write_at(path(job), job.log_stored, masked)
    if job.gang_id:
        with arrivals(job).open("a") as times:
            times.write(f"{job.log_stored} {timezone.now().timestamp():.2f}\n")
    return {"log_offset": state.offset + len(chunk), "log_stored": job.log_stored + len(masked),
            "log_grew_at": timezone.now(), **progress_in(chunk), **early_warnings.found(job, chunk)}


def within_limit(job: Job | JobLog, masked: bytes) -> bytes:
    """What is kept of a new part: nothing above LOG_LIMIT_BYTES, where a line says so."""
    room = settings.LOG_LIMIT_BYTES - job.log_stored
    if len(masked) <= room:
        return masked
    return masked[:room] + CUT_HERE if room > 0 else b""


def write_at(file: Path, position: int, data: bytes) -> None:
    """Write bytes at their place; the same bytes again change nothing."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.pwrite(descriptor, data, position)
    finally:
        os.close(descriptor)


def progress_in(chunk: bytes) -> dict:
    """The columns of progress and of the last loss that a part of a log shows."""
    changes: dict = {}
    for match in _ITERATION.finditer(chunk):
        done, total, percent = match.groups()
        changes = {"progress_done": int(done or percent), "progress_total": int(total or 100)}
    losses = early_warnings.losses(chunk)
    if losses:
        changes["last_loss"] = losses[-1] if math.isfinite(losses[-1]) else None
    return changes


def read(job: Job | JobLog, offset: int = 0, limit: int = 256 * 1024) -> tuple[str, int]:
    """Text of the live log from a byte offset, and the offset to go on from.

    No character is cut in two: its first bytes are left for the next time.
    """
    offset = min(max(0, offset), job.log_stored)
    with opened(job) as stream:
        if stream is None:
            return "", offset
        stream.seek(offset)
        data = stream.read(min(limit, job.log_stored - offset))
    whole = data[:_whole_characters(data)] if offset + len(data) < job.log_stored else data
    return whole.decode("utf-8", "replace"), offset + len(whole)


def _whole_characters(data: bytes) -> int:
    """Length of the data without the first bytes of a character that goes on."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte >= 0xC0:  # the first of several bytes
            wanted = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) - back if back < wanted else len(data)
        if byte < 0x80:
            break
    return len(data)


def line_start(job: Job | JobLog, offset: int) -> int:
    """The first byte of the first whole line at or after an offset; the offset if none is near."""
    if offset <= 0:
        return 0
    with opened(job) as stream:
        if stream is None:
            return offset
        stream.seek(offset - 1)
        end = re.search(rb"[\r\n]", stream.read(LONGEST_LINE))
    return offset + end.start() if end else offset


def length(job: Job | JobLog) -> int:
    """Bytes that `pieces` gives."""
    with opened(job) as stream:
        return min(job.log_stored, stream.seek(0, os.SEEK_END)) if stream else 0


def pieces(job: Job | JobLog, size: int = 2**20) -> Iterator[bytes]:
    """The whole masked log as it stands, without holding more than one piece of it."""
    left = length(job)
    if not left:
        return
    with opened(job) as stream:
        while stream and left and (piece := stream.read(min(size, left))):
            left -= len(piece)
            yield piece


def tail(job: Job | JobLog, limit: int = 200_000) -> str:
    """The last part of the live log."""
    return read(job, max(0, job.log_stored - limit), limit)[0]
