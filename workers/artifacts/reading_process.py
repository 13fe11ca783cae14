"""Hostile files are read in processes of their own, with limits of time and memory.

A reader that meets a line of 30 MB holds Python's lock for seconds: in the portal's process no
other page would be answered meanwhile. Children are forked from a server that has the readers
loaded and nothing else. One reads a file at a time and up to CALLS of them, for starting one takes
longer than reading a small log; a child that ran into a limit reads nothing more.
"""

import math
import multiprocessing
import os
import resource
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from django.conf import settings

from toolreaders.base import ReadError

START_SECONDS = 30  # for the server's own start, once
CALLS = 200  # of one child
MOST_IDLE, IDLE_SECONDS = 4, 60.0  # children that are kept, and how long
GROWN_KIB = 300 * 2**10  # a child that once took more makes room for a new one
_lock = threading.Lock()


def run_bounded(function: Callable[..., Any], *args: Any) -> Any:
    """What `function(*args)` returns, computed within the limits of the settings.

    Raises ReadError as the function does, and with the codes `took_too_long`, `too_much_memory`
    and `reader_ended`.

    Args:
        function: of a module's top level that needs neither Django nor the database; arguments and
            result travel by pickle.
    """
    if not settings.READ_PROCESS:
        return function(*args)
    child = _take()
    try:
        kind, *found = child.ask(function, args)
    except BaseException:
        child.end()
        raise
    _give_back(child)
    if kind == "error":
        raise ReadError(*found)
    return found[0]


class _Child:
    """One process, and the line to it."""

    def __init__(self) -> None:
        self.memory_mb, self.calls = settings.READ_MEMORY_MB, 0
        self.line, theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["workers.artifacts.reading_preload"])
        self.process = context.Process(target=_serve, args=(theirs, self.memory_mb), daemon=True)
        with _lock:  # the server starts once
            self.process.start()
        theirs.close()

    def ask(self, function: Callable[..., Any], args: tuple) -> tuple:
        """`found` and the result, or `error` with code and sentence of the file's own fault.

        Raises ReadError where the child ran into a limit: it reads nothing more.
        """
        seconds, self.calls = settings.READ_SECONDS, self.calls + 1
        try:
            self.line.send((seconds, function, args))
            if not self.line.poll(seconds + START_SECONDS):
                raise ReadError("took_too_long", f"Reading it takes more than {seconds} seconds.")
            kind, *found, self.has_grown = self.line.recv()
        except (EOFError, OSError):
            raise ReadError("reader_ended", "The process that read it ended: it took more than "
                            f"{seconds} seconds of the processor, or it crashed.") from None
        if kind == "limit":
            raise ReadError(*found)
        self.idle_since = time.monotonic()
        return kind, *found

    def is_fresh(self) -> bool:
        """Whether it may read another file."""
        return (self.calls < CALLS and not self.has_grown
                and self.memory_mb == settings.READ_MEMORY_MB
                and time.monotonic() - self.idle_since < IDLE_SECONDS)

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.line.close()


_idle: list[_Child] = []
os.register_at_fork(after_in_child=_idle.clear)  # they answer the process that started them


def _take() -> _Child:
    while True:
        with _lock:
            child = _idle.pop() if _idle else None
        if child is None:
            return _Child()
        if child.is_fresh():
            return child
        child.end()


def _give_back(child: _Child) -> None:
    with _lock:
        is_reusable = child.is_fresh() and len(_idle) < MOST_IDLE
        if is_reusable:
            _idle.append(child)
    if not is_reusable:
        child.end()


def _serve(line: Connection, memory_mb: int) -> None:
    """In the child: answers until nobody asks any more."""
    resource.setrlimit(resource.RLIMIT_AS, (memory_mb * 2**20, memory_mb * 2**20))
    while line.poll(2 * IDLE_SECONDS):
        _allow(None)  # modules that a function comes from are loaded here, in no file's time
        try:
            seconds, function, args = line.recv()
        except EOFError:
            return
        _allow(seconds)
        answer = _answer(function, args, memory_mb)
        line.send((*answer, _used().ru_maxrss > GROWN_KIB))


def _allow(seconds: int | None) -> None:
    """The processor's time up to now and so many seconds more; then the system ends the child."""
    used = _used()
    resource.setrlimit(resource.RLIMIT_CPU, (
        resource.RLIM_INFINITY if seconds is None else
        math.ceil(used.ru_utime + used.ru_stime) + seconds, resource.RLIM_INFINITY))


def _used() -> resource.struct_rusage:
    return resource.getrusage(resource.RUSAGE_SELF)


def _answer(function: Callable[..., Any], args: tuple, memory_mb: int) -> tuple:
    try:
        return "found", function(*args)
    except ReadError as error:
        return "error", error.code, error.message
    except MemoryError:
        return "limit", "too_much_memory", f"Reading it takes more than {memory_mb} MB."
