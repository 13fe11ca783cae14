"""Celery tasks; each calls one service."""

from celery import shared_task
from django.utils import timezone

from workers.dispatch import cleanup, enqueueing, node_polling, runner
from workers.nodes import node_alarms
from workers.services import jobs, node_imports, reading_requests


@shared_task(name="workers.advance")
def advance(job_id: int) -> None:
    """Take the job as far as it goes without waiting."""
    runner.advance_while_due(job_id)


@shared_task(name="workers.poll_nodes")
def poll_nodes(node_ids: list[int]) -> None:
    """Start and poll what is due on these nodes."""
    node_polling.poll_nodes(node_ids)


@shared_task(name="workers.tick")
def tick() -> None:
    """Wake what is due; found in the database, not in the queue.

    Nodes that answered last time are asked together; one that did not holds up nobody else.
    """
    for job_id in node_polling.due_jobs():
        enqueueing.advance(job_id)
    answering, others = node_polling.due_nodes()
    for node_id in others:
        enqueueing.poll([node_id])
    if answering:
        enqueueing.poll(answering)


@shared_task(name="workers.housekeeping")
def keep_house() -> None:
    """Remove old job folders whose files are stored and verified; measure the rest."""
    cleanup.keep_house()


@shared_task(name="workers.watch_nodes")
def watch_nodes() -> None:
    """Open and end alarms of nodes, stop jobs for maintenance, and look again at full disks."""
    node_alarms.watch(timezone.now())
    jobs.stop_for_maintenance(timezone.now())
    cleanup.look_at_full_disks()


@shared_task(name=node_imports.LOOK)
def look_at_imported(look_id: int) -> None:
    """Take the next step of one imported node."""
    node_imports.look_at(look_id)


@shared_task(name="workers.wake_looks")
def wake_looks() -> None:
    """Find looks whose message was lost."""
    node_imports.wake_looks()


@shared_task(name=reading_requests.READ)
def read_upload(request_id: int) -> None:
    """Read a stored file, in a child process with limits."""
    reading_requests.read_requested(request_id)


@shared_task(name="workers.wake_readings")
def wake_readings() -> None:
    """Find files whose message was lost or whose worker died."""
    reading_requests.enqueue_due_readings()
