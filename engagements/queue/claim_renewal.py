"""Claims that are kept while their work lasts, and no longer: a silent process loses them."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db import connection
from django.utils import timezone

from engagements.queue.claimable import ClaimableQuerySet


@contextmanager
def renewed(rows: ClaimableQuerySet, duration: timedelta, every_seconds: float) -> Iterator[None]:
    """Renew the claim of the rows beside the work; nothing of it is left once the work is done.

    Args:
        rows: as `claimed_with` finds them; where there are none any more, nothing is renewed.
    """
    is_over = threading.Event()
    thread = threading.Thread(
        target=_renew, args=(rows, duration, every_seconds, is_over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _renew(rows: ClaimableQuerySet, duration: timedelta, every_seconds: float,
           is_over: threading.Event) -> None:
    try:
        while not is_over.wait(every_seconds) and rows.renew_claim(timezone.now(), duration):
            pass
    finally:
        connection.close()
