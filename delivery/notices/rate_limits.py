"""When a message may leave: token buckets, back-off, the hour of the digest (DOMAIN 13)."""

import random
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from django.utils import timezone

MAX_ATTEMPTS = 8
FIRST_PAUSE = timedelta(seconds=15)
LONGEST_PAUSE = timedelta(hours=1)
DIGEST_HOUR = time(9)  # Asia/Shanghai


@dataclass(frozen=True)
class Rate:
    """A token bucket: at most `capacity` at once, `per_second` afterwards.

    In any window of t seconds at most capacity + t × per_second messages leave.
    """

    capacity: int
    per_second: float


def take_token(rate: Rate, tokens: float, refilled_at: datetime | None, now: datetime
               ) -> tuple[float, timedelta]:
    """The bucket after taking one token, and how long to wait if there was none (else zero)."""
    if refilled_at is None:
        tokens = rate.capacity
    else:
        passed = max(0.0, (now - refilled_at).total_seconds())
        tokens = min(rate.capacity, tokens + passed * rate.per_second)
    if tokens >= 1:
        return tokens - 1, timedelta(0)
    return tokens, timedelta(seconds=(1 - tokens) / rate.per_second)


def retry_delay(attempts: int, at_least: timedelta = timedelta(0)) -> timedelta:
    """The pause after so many failed attempts: doubled each time, spread by half either way."""
    pause = min(FIRST_PAUSE * 2 ** min(attempts - 1, 20), LONGEST_PAUSE)
    return max(pause * random.uniform(0.5, 1.5), at_least)


def next_digest(after: datetime) -> datetime:
    """The next nine o'clock in Asia/Shanghai."""
    local = timezone.localtime(after)
    digest = local.replace(hour=DIGEST_HOUR.hour, minute=0, second=0, microsecond=0)
    return digest if digest > local else digest + timedelta(days=1)


def after_quiet(now: datetime, start: time | None, end: time | None) -> datetime:
    """`now`, or the end of the quiet hours (Asia/Shanghai) in which it lies; they may go past
    midnight. Without both ends, or with equal ones, there are none."""
    local = timezone.localtime(now)
    at = local.time()
    if start is None or end is None or start == end:
        return now
    is_quiet = start <= at < end if start < end else at >= start or at < end
    if not is_quiet:
        return now
    until = local.replace(hour=end.hour, minute=end.minute, second=0, microsecond=0)
    return until if until > local else until + timedelta(days=1)
