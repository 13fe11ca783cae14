"""When a worker last did something, noted in the cache that all processes share."""

import time
from datetime import datetime

from django.core.cache import cache

KEY = "worker-did-a-task"
STEP_SECONDS = 5
NEVER = 10 * 365 * 86400.0  # no worker has noted a task yet
_written_at = 0.0


def worker_did_a_task() -> None:
    """Note the time, at most every few seconds."""
    global _written_at
    if time.time() - _written_at >= STEP_SECONDS:
        _written_at = time.time()
        cache.set(KEY, _written_at, None)


def worker_age_seconds(now: datetime) -> float:
    """Seconds since any worker finished a task; ten years if none ever did."""
    at = cache.get(KEY)
    return max(0.0, now.timestamp() - at) if at else NEVER
