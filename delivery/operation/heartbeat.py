"""When a worker last did something, noted in the cache that all processes share, and when the clock
process did, in its lease; both by the database's clock."""

import time
from datetime import datetime

from django.core.cache import cache
from django.db.models.functions import Now

from engagements import database_clock
from engagements.leased_scheduler import CLOCK, LEASE
from engagements.models import Lease

KEY = "worker-did-a-task"
STEP_SECONDS = 5
LATE = 25  # seconds after which a clock process has stopped: it renews every ten
NEVER = 10 * 365 * 86400.0  # no worker has noted a task yet
_written_at = -STEP_SECONDS


def worker_did_a_task() -> None:
    """Note the time, at most every few seconds."""
    global _written_at
    if time.monotonic() - _written_at >= STEP_SECONDS:
        _written_at = time.monotonic()
        cache.set(KEY, time.time() - database_clock.look("worker"), None)


def worker_age_seconds(now: datetime) -> float:
    """Seconds since any worker finished a task; ten years if none ever did."""
    at = cache.get(KEY)
    return max(0.0, now.timestamp() - database_clock.look("portal") - at) if at else NEVER


def clock_age_seconds() -> float:
    """Seconds since the clock process renewed its lease; ten years where there is none."""
    row = Lease.objects.filter(name=CLOCK).annotate(now=Now()).values_list("now", "until").first()
    return max(0.0, (row[0] - (row[1] - LEASE)).total_seconds()) if row else NEVER
