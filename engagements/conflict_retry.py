"""Services that lost a conflict between two writers are run again, or say what the other wrote.

PostgreSQL ends one of two transactions that wait for each other (deadlock) or that cannot both be
right (serialisation failure). The one that was ended has changed nothing: a service that writes
to nothing but the database gives the same answer when it is run again.
"""

import functools
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import IntegrityError, OperationalError, connection, transaction

CONFLICTS = frozenset({"40P01", "40001"})  # SQLSTATE: deadlock detected, serialisation failure
DUPLICATE = "23505"  # SQLSTATE: unique violation; SQLite says it in words
TRIES = 4
PAUSE_SECONDS = 0.05  # the longest pause before the second try; doubled each time


def retried(service: Callable[..., Any]) -> Callable[..., Any]:
    """Run a service again that lost a conflict; put it above `@transaction.atomic`.

    Inside a transaction of the caller nothing is repeated: that transaction is lost as a whole.
    """

    @functools.wraps(service)
    def run(*args, **kwargs):
        tries = 1 if connection.in_atomic_block else TRIES
        for number in range(tries):
            try:
                return service(*args, **kwargs)
            except OperationalError as error:
                if number + 1 == tries or not is_conflict(error):
                    raise
            time.sleep(random.uniform(0, PAUSE_SECONDS * 2 ** number))
        return None

    return run


@contextmanager
def checked_insert(check: Callable[[], Any]) -> Iterator[None]:
    """A transaction around the insert of a row of which a constraint lets only one be open.

    `check` raises the refusal while one is open. Where another writer is quicker between check and
    insert, the constraint stops this one, and the check, asked again, says why.
    """
    check()
    try:
        with transaction.atomic():
            yield
    except IntegrityError:
        check()
        raise


def is_duplicate(error: Exception) -> bool:
    """Whether another writer was quicker with a row of the same name, number or place."""
    return isinstance(error, IntegrityError) and (
        getattr(error.__cause__, "sqlstate", None) == DUPLICATE
        or "UNIQUE constraint" in str(error))


def is_conflict(error: OperationalError) -> bool:
    """Whether the database ended the transaction for the sake of another writer."""
    return getattr(error.__cause__, "sqlstate", None) in CONFLICTS
