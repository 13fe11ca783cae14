"""The log of a command that has ended before all of it was fetched: its last lines, then the rest.

How it ended is known by then, and said; the job is collecting, not running.
"""

from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext_noop

from toolreaders.masking import mask_bytes
from workers.logs import live_log
from workers.models import Job
from workers.nodes import ssh
from workers.remote import replies, scripts
from workers.remote.replies import RemoteState

SIZE = "log_size"  # in `remote`: bytes of the log on the node
TAIL = "log_tail"  # in the results while the rest is fetched: the last lines, masked
ENDED_AT = "ended"  # in the message's values
TAIL_BYTES = 16 * 1024
PART = 8 * 2**20  # bytes of one step
MEGABYTE = 10**6
FETCHING = gettext_noop(
    "The command ended (seen %(ended)s) with exit status %(status)d; %(here).1f of %(all).1f MB of "
    "its log are here.")


def is_missing(job: Job) -> bool:
    """Whether a part of the log has not been fetched yet."""
    return job.log_offset < job.remote.get(SIZE, 0)


def said(status: int, now: datetime, here: int, size: int) -> dict:
    """The columns that say how it ended and how much of the log is here.

    Args:
        here, size: bytes.
    """
    return {"message": FETCHING, "message_values": {
        ENDED_AT: f"{timezone.localtime(now):%H:%M}", "status": status,
        "here": here / MEGABYTE, "all": size / MEGABYTE}}


def fetch(job: Job) -> dict:
    """The next part, the last lines before the first. Returns the columns that changed.

    Raises what `workers.nodes.ssh` raises.
    """
    size, now = job.remote[SIZE], timezone.now()
    results = job.results
    if TAIL not in results and size - job.log_offset > PART:
        last = _part(job, max(job.log_offset, size - TAIL_BYTES), TAIL_BYTES)
        results = {**results, TAIL: mask_bytes(last.partition(b"\n")[2]).decode("utf-8", "replace")}
        job.results = results
        return {"results": results, "next_step_at": now}
    chunk = _part(job, job.log_offset, PART)
    state = RemoteState(
        is_present=True, exit_status=job.exit_status, process="gone", heartbeat_at=None,
        node_time=None, size=size, boot_id="", offset=job.log_offset, chunk=chunk, line="")
    changes = live_log.append(job, state)
    here = changes.get("log_offset", job.log_offset)
    if not chunk or here >= size:  # a log that lost its end is kept as far as it goes
        job.remote = {name: value for name, value in job.remote.items() if name != SIZE}
        job.results = {name: value for name, value in results.items() if name != TAIL}
        return {**changes, "remote": job.remote, "results": job.results, "message": "",
                "message_values": {}, "next_step_at": now}
    return {**changes, "next_step_at": now, "troubles": 0,
            "message": FETCHING, "message_values": {**job.message_values, "here": here / MEGABYTE}}


def _part(job: Job, offset: int, limit: int) -> bytes:
    parts: list[bytes] = []
    ssh.download(job.access, scripts.log_script(replies.place(job), offset, limit), parts.append,
                 timeout=300)
    return b"".join(parts)
