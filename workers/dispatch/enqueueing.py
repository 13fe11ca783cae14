"""Waking the workers. A message carries only a job's id; losing or doubling one changes nothing."""

import contextlib

from celery import signature
from django.db import transaction
from kombu.exceptions import OperationalError


def wake(job_id: int) -> None:
    """Ask a worker, once this transaction has committed, to look at the job."""
    transaction.on_commit(lambda: send(job_id))


def wake_nodes(node_ids: list[int]) -> None:
    """Ask a worker, once this transaction has committed, to visit the nodes."""
    if node_ids:
        transaction.on_commit(lambda: send_poll(node_ids))


def send(job_id: int) -> None:
    """Ask a worker now. A broker that is away is no error: the periodic tick finds the job."""
    _send(signature("workers.advance", args=(job_id,), options={"expires": 60}))


def send_poll(node_ids: list[int], after_seconds: float = 0) -> None:
    """Ask a worker to visit these nodes, now or in a moment."""
    options = {"expires": 15, "countdown": after_seconds} if after_seconds else {"expires": 15}
    _send(signature("workers.visit", args=(node_ids,), options=options))


def _send(message) -> None:
    with contextlib.suppress(OSError, OperationalError):
        message.apply_async(retry=False)


def send_task(name: str, *args) -> None:
    """Ask a worker, once this transaction has committed, for a task of a higher app."""
    transaction.on_commit(lambda: _send(signature(name, args=args, options={"expires": 600})))
