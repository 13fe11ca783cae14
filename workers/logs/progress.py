"""How far a running job is: the rest of its time, and its losses as a small line."""

import math

from django.utils import timezone

from workers.logs import early_warnings, live_log
from workers.models import Job

WIDTH, HEIGHT, MOST_POINTS = 240, 44, 120


def remaining_seconds(job: Job) -> int | None:
    """Expected rest of a running job, from its progress so far."""
    if not (job.started_at and job.progress_total and job.progress_done):
        return None
    elapsed = (timezone.now() - job.started_at).total_seconds()
    return int(elapsed / job.progress_done * (job.progress_total - job.progress_done))


def loss_line(job: Job) -> str:
    """The last losses as the points of an SVG polyline of 240 × 44; empty below two losses."""
    losses = [loss for loss in early_warnings.losses(live_log.tail(job, 2**20).encode())
              if math.isfinite(loss)]
    return points(losses[-5000:])


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
