"""What workers tell: tasks in figures, the last one in the cache, ids in the log."""

import time

from celery.signals import task_postrun, task_prerun, worker_ready
from django.conf import settings
from prometheus_client import Counter, Histogram, start_http_server

from delivery.operation.heartbeat import worker_did_a_task
from engagements.log_context import add_to_log_context

TASKS = Counter("desk_tasks_total", "Tasks that workers have done", ["task", "state"])
TASK_SECONDS = Histogram("desk_task_seconds", "How long tasks took", ["task"],
                         buckets=(.01, .05, .1, .5, 1, 5, 10, 30, 60, 300))
_began: dict[str, float] = {}


@task_prerun.connect
def task_begins(task_id=None, task=None, **_rest) -> None:
    _began[task_id] = time.monotonic()
    add_to_log_context(task=task.name, task_id=task_id)


@task_postrun.connect
def task_ended(task_id=None, task=None, state=None, **_rest) -> None:
    TASKS.labels(task.name, str(state).lower()).inc()
    TASK_SECONDS.labels(task.name).observe(time.monotonic() - _began.pop(task_id, time.monotonic()))
    if not settings.CELERY_TASK_ALWAYS_EAGER:
        worker_did_a_task()


@worker_ready.connect
def serve_figures(**_rest) -> None:
    """The worker's own figures on a port of their own, where one is set."""
    if settings.WORKER_METRICS_PORT:
        start_http_server(settings.WORKER_METRICS_PORT, addr=settings.WORKER_METRICS_HOST)
