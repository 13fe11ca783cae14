"""Asking workers to look at jobs and nodes. A message carries ids only; see `engagements.queue`."""

from django.db import transaction

from engagements.queue import enqueue, enqueue_on_commit

ADVANCE, POLL_NODES = "workers.advance", "workers.poll_nodes"
POLL_EXPIRES = 15  # seconds; the next tick asks again


def advance_on_commit(job_id: int) -> None:
    """Ask a worker, once this transaction has committed, to take the job's next step."""
    enqueue_on_commit(ADVANCE, job_id)


def poll_on_commit(node_ids: list[int]) -> None:
    """Ask a worker, once this transaction has committed, to poll the nodes."""
    if node_ids:
        transaction.on_commit(lambda: poll(node_ids))


def advance(job_id: int) -> None:
    """Ask a worker now to take the job's next step."""
    enqueue(ADVANCE, job_id)


def poll(node_ids: list[int], after_seconds: float = 0) -> None:
    """Ask a worker to poll these nodes, now or in a moment."""
    enqueue(POLL_NODES, node_ids, expires=POLL_EXPIRES, countdown=after_seconds or None)
