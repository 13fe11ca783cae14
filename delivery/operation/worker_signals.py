"""What workers tell: tasks in figures, the last one in the cache, ids in the log."""

import time
from contextlib import ExitStack

from celery.signals import task_postrun, task_prerun, worker_ready
from django.conf import settings
from prometheus_client import Counter, Histogram, start_http_server

from delivery.operation.heartbeat import worker_did_a_task
from engagements.log_context import log_context

TASKS = Counter("desk_tasks_total", "Tasks that workers have done", ["task", "state"])
TASK_SECONDS = Histogram("desk_task_seconds", "How long tasks took", ["task"],
                         buckets=(.01, .05, .1, .5, 1, 5, 10, 30, 60, 300))
_running: dict[str, tuple[float, ExitStack]] = {}  # since when, and the facts of log lines


@task_prerun.connect
def task_begins(task_id=None, task=None, **_rest) -> None:
    facts = ExitStack()
    facts.enter_context(log_context(task=task.name, task_id=task_id))
    _running[task_id] = time.monotonic(), facts


@task_postrun.connect
def task_ended(task_id=None, task=None, state=None, **_rest) -> None:
    TASKS.labels(task.name, str(state).lower()).inc()
    began, facts = _running.pop(task_id, (time.monotonic(), ExitStack()))
    TASK_SECONDS.labels(task.name).observe(time.monotonic() - began)
    facts.close()
    if not settings.CELERY_TASK_ALWAYS_EAGER:
        worker_did_a_task()


@worker_ready.connect
def serve_figures(**_rest) -> None:
    """The worker's own figures on a port of their own, where one is set."""
    if settings.WORKER_METRICS_PORT:
        start_http_server(settings.WORKER_METRICS_PORT, addr=settings.WORKER_METRICS_HOST)
