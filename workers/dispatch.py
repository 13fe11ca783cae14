"""Waking the workers. A message carries only a job's id; losing or doubling one changes nothing."""

import contextlib

from celery import signature
from django.db import transaction


def wake(job_id: int) -> None:
    """Ask a worker, once this transaction has committed, to look at the job."""
    transaction.on_commit(lambda: send(job_id))


def send(job_id: int) -> None:
    """Ask a worker now. A broker that is away is no error: the periodic tick finds the job."""
    message = signature("workers.advance", args=(job_id,), options={"expires": 60})
    with contextlib.suppress(OSError):
        message.apply_async(retry=False)
