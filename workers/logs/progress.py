"""How far a running job is: the rest of its time, and each series of its log as a small line."""

import math
import re
from dataclasses import dataclass

from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from workers.logs import early_warnings, live_log
from workers.models import Job, JobLog

WIDTH, HEIGHT, MOST_POINTS = 240, 44, 120
NUMBER = rb"['\"]?\s*[:=]\s*([-+]?\d+\.?\d*(?:[eE][-+]?\d{1,3})?)"
# As Megatron, Transformers and DeepSpeed print them.
SERIES = (
    (_("Loss so far"), early_warnings.LOSS),
    (_("Gradient norm"), re.compile(rb"grad[_ ]norm" + NUMBER, re.IGNORECASE)),
    (_("Learning rate"), re.compile(rb"(?:learning[_ ]rate|(?<![\w.])lr)" + NUMBER,
                                    re.IGNORECASE)),
    (_("Time per step (ms)"), re.compile(rb"elapsed time per iteration \(ms\)" + NUMBER)),
    (_("Samples or tokens per second"), re.compile(
        rb"(?:samples|tokens)(?:/s(?:ec)?|[_ ]per[_ ]sec(?:ond)?)" + NUMBER, re.IGNORECASE)),
)


def remaining_seconds(job: Job) -> int | None:
    """Expected rest of a running job, from its progress so far."""
    if not (job.started_at and job.progress_total and job.progress_done):
        return None
    elapsed = (timezone.now() - job.started_at).total_seconds()
    return int(elapsed / job.progress_done * (job.progress_total - job.progress_done))


@dataclass(frozen=True)
class SeriesLine:
    """One series of a growing log: SVG points of a line of 240 × 44, and its last value."""

    title: str
    points: str
    last: float


def series_lines(job: Job) -> list[SeriesLine]:
    """The last values of every series that the end of a log of the job holds at least two of."""
    return [*_of_log(job, ""), *(line for log in job.logs.all() for line in _of_log(log, log.name))]


def _of_log(log: Job | JobLog, name: str) -> list[SeriesLine]:
    end, found = live_log.tail(log, 2**20).encode(), []
    for title, pattern in SERIES:
        values = [value for value in map(float, pattern.findall(end)) if math.isfinite(value)]
        if line := points(values[-5000:]):
            shown = f"{title} · {name}" if name else str(title)
            found.append(SeriesLine(shown, line, values[-1]))
    return found


def points(values: list[float]) -> str:
    """SVG points; of each group of neighbours the highest is kept, so that a spike shows."""
    if len(values) < 2:
        return ""
    step = math.ceil(len(values) / MOST_POINTS)
    kept = [max(values[i:i + step]) for i in range(0, len(values), step)]
    low, span = min(kept), (max(kept) - min(kept)) or 1
    wide = WIDTH / max(1, len(kept) - 1)
    return " ".join(f"{n * wide:.1f},{HEIGHT - 2 - (value - low) / span * (HEIGHT - 4):.1f}"
                    for n, value in enumerate(kept))
