"""A process of its own that sets type, so that a long report slows neither pages nor polls.

Setting holds Python's lock for seconds. Each process that wants document keeps one such child,
started when it is first needed, and waits for it without holding the lock.
"""

import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures import TimeoutError as TooLate
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import django
from django.conf import settings
from django.utils.translation import gettext as _

from engagements.errors import DeskError

RUNS_PER_CHILD = 40  # then a fresh one: type setting leaves memory behind
SECONDS = 330  # shorter than an order is held (services.orders.HOLD)
BEAT_SECONDS = 10

_lock = threading.Lock()
_pool: ProcessPoolExecutor | None = None
_is_child = False


class RenderFailedError(DeskError):
    """The process that sets type ended or took too long; trying again is safe."""

    code = "press_failed"
    status = 503


def run_in_child(function: Callable[..., Any], *args: Any,
              still_waiting: Callable[[], None] | None = None, **named: Any) -> Any:
    """What `function(*args, **named)` returns, computed in the child.

    Args:
        function: of a module's top level; it and its arguments travel by pickle and it must not
            touch the database.
        still_waiting: called here at once and every BEAT_SECONDS until the answer is there.

    In the child, or with DESK_RENDER_PROCESS off, it is simply called. It raises what that raises;
    RenderFailedError if the child died.
    """
    if _is_child or not settings.RENDER_PROCESS:
        return function(*args, **named)
    pool = _running_pool()
    try:
        return _awaited(pool.submit(function, *args, **named), still_waiting)
    except (BrokenProcessPool, TooLate) as error:
        _stop(pool)
        raise RenderFailedError(_("The typesetting process ended unexpectedly.")) from error


def _awaited(future: Future, still_waiting: Callable[[], None] | None) -> Any:
    end = time.monotonic() + SECONDS
    while True:
        if still_waiting:
            still_waiting()
        try:
            return future.result(BEAT_SECONDS)
        except TooLate:
            if future.done() or time.monotonic() > end:
                raise


def _running_pool() -> ProcessPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            _pool = ProcessPoolExecutor(
                1, mp_context=multiprocessing.get_context("spawn"), initializer=_begin,
                max_tasks_per_child=RUNS_PER_CHILD)
        return _pool


def _begin() -> None:
    global _is_child
    _is_child = True
    threading.Thread(target=_end_with_parent, daemon=True).start()
    django.setup()


def _end_with_parent() -> None:
    """A child whose parent was killed would wait for ever for the next document."""
    multiprocessing.parent_process().join()
    os._exit(1)


def _stop(pool: ProcessPoolExecutor) -> None:
    """Leave a broken pool, and end a child that hangs."""
    global _pool
    with _lock:
        if _pool is pool:
            _pool = None
    for child in list((pool._processes or {}).values()):
        child.kill()
    pool.shutdown(wait=False, cancel_futures=True)
