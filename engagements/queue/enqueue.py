"""Asking Celery workers to look at a row. A message carries ids only.

Losing a message costs time and no data, since periodic tasks find due rows in the database;
receiving one twice does no harm, since rows are claimed (`engagements.queue.claimable`).
"""

import contextlib

from celery import signature
from django.db import transaction
from kombu.exceptions import OperationalError


def enqueue(task: str, *args, expires: float = 60, countdown: float | None = None) -> None:
    """Send a message now. An unreachable broker is ignored.

    Args:
        task: the registered name of a Celery task.
        args: JSON-able arguments, row ids as a rule.
        expires: seconds after which a worker drops the message.
        countdown: seconds before a worker may take it.
    """
    options = {"expires": expires, **({"countdown": countdown} if countdown else {})}
    with contextlib.suppress(OSError, OperationalError):
        signature(task, args=args, options=options).apply_async(retry=False)


def enqueue_on_commit(task: str, *args, expires: float = 60) -> None:
    """As `enqueue`, once the current transaction has committed."""
    transaction.on_commit(lambda: enqueue(task, *args, expires=expires))
