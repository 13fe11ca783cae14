"""A claim is renewed while its work lasts; no thread outlives the work."""

import threading
import time
from datetime import timedelta

from engagements.queue import renewed

MINUTE = timedelta(minutes=1)


class Rows:
    """Rows whose claim is renewed so many times before it is lost."""

    def __init__(self, times: int) -> None:
        self.times, self.renewed = times, 0

    def renew_claim(self, now, duration) -> int:
        self.renewed += 1
        return int(self.renewed < self.times)


def test_renewing_ends_with_the_work():
    before, rows = threading.active_count(), Rows(1_000_000)
    with renewed(rows, MINUTE, 0.01):
        while rows.renewed < 3:
            time.sleep(0.01)
    assert threading.active_count() == before
    after = rows.renewed
    time.sleep(0.05)
    assert rows.renewed == after


def test_short_work_writes_nothing():
    rows = Rows(10)
    with renewed(rows, MINUTE, 15):
        pass
    assert rows.renewed == 0


def test_a_claim_that_is_lost_is_not_renewed_again():
    before, rows = set(threading.enumerate()), Rows(2)
    with renewed(rows, MINUTE, 0.01):
        [thread] = set(threading.enumerate()) - before
        thread.join(60)
        assert not thread.is_alive()
    assert rows.renewed == 2
