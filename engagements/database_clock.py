"""The clock of this process beside the database's, which all processes share."""

import logging
import time

from django.core.cache import cache
from django.db import connection
from django.utils import timezone

MOST_SECONDS = 5  # beyond, what is due here is not what is due elsewhere
LOOK_SECONDS = 30
PROCESSES = ("portal", "worker", "clock")

logger = logging.getLogger(__name__)
_looks: dict[str, tuple[float, float]] = {}  # by process: when, and what was found


def seconds_ahead() -> float:
    """By how much this clock is ahead of the database's; 0 with SQLite, which has none."""
    if connection.vendor != "postgresql":
        return 0.0
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        return (timezone.now() - cursor.fetchone()[0]).total_seconds()


def look(process: str) -> float:
    """The same, asked at most every LOOK_SECONDS; a wrong clock is logged, and noted for
    `noted_ahead` where a right one of the same name does not hide it."""
    at, ahead = _looks.get(process, (-LOOK_SECONDS, 0.0))
    if time.monotonic() - at < LOOK_SECONDS:
        return ahead
    ahead = seconds_ahead()
    _looks[process] = time.monotonic(), ahead
    if abs(ahead) > MOST_SECONDS:
        logger.error("The clock of this %s is %.0f s off the database's: run an NTP client. Until "
                     "then what is due is done late, or not at all.", process, ahead)
        cache.set(f"clock-ahead:{process}", ahead, 4 * LOOK_SECONDS)
    return ahead


def noted_ahead() -> dict[str, float]:
    """By process, how far its clock is off where it is; else 0."""
    return {process: cache.get(f"clock-ahead:{process}", 0.0) for process in PROCESSES}
