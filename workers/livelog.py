"""The log of a running job: fetched by byte offset, masked, kept beside the database."""

import math
import re
from pathlib import Path

from django.conf import settings

from workers.models import Job
from workers.remote_state import RemoteState
from workers.secrets import mask_secrets

_ITERATION = re.compile(
    rb"(?:iteration|step|iter)[:\s]*\[?\s*(\d+)\s*/\s*(\d+)|(\d{1,3})%\|")
_LOSS = re.compile(rb"lm loss:\s*([0-9.Ee+-]+|nan|inf)", re.IGNORECASE)


def path(job: Job) -> Path:
    """Where the masked log of this job grows."""
    folder = Path(settings.VAR_DIR) / "live-logs"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{job.pk}.log"


def append(job: Job, state: RemoteState) -> dict:
    """Add the new part of the log. Returns the columns that changed.

    Only whole lines are taken while the job runs, so that no secret is cut in two.
    """
    chunk = state.chunk
    if state.exit_status is None or state.has_more_log:
        cut = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1
        if cut or len(chunk) < 64 * 1024:
            chunk = chunk[:cut]
    if not chunk:
        return {}
    with path(job).open("ab" if job.log_offset else "wb") as stream:
        stream.write(mask_secrets(chunk.decode("utf-8", "replace")).encode())
    return {"log_offset": state.offset + len(chunk), **_progress(chunk)}


def _progress(chunk: bytes) -> dict:
    changes: dict = {}
    for match in _ITERATION.finditer(chunk):
        done, total, percent = match.groups()
        changes = {"progress_done": int(done or percent), "progress_total": int(total or 100)}
    losses = _LOSS.findall(chunk)
    if losses:
        value = float(losses[-1])
        changes["last_loss"] = value if math.isfinite(value) else None
    return changes


def read(job: Job, offset: int = 0, limit: int = 256 * 1024) -> tuple[str, int]:
    """Text of the live log from a byte offset, and the offset to go on from."""
    file = path(job)
    if not file.exists():
        return "", 0
    with file.open("rb") as stream:
        stream.seek(max(0, offset))
        data = stream.read(limit)
    return data.decode("utf-8", "replace"), max(0, offset) + len(data)


def tail(job: Job, limit: int = 200_000) -> str:
    """The last part of the live log."""
    file = path(job)
    size = file.stat().st_size if file.exists() else 0
    return read(job, max(0, size - limit), limit)[0]
