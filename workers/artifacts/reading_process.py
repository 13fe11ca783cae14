"""Hostile files are read in a process of their own, with limits of time and memory.

A reader that meets a line of 30 MB holds Python's lock for seconds: in the portal's process no
other page would be answered meanwhile. The child is forked from a server that has the readers
loaded and nothing else; it ends with the file.
"""

import multiprocessing
import resource
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from django.conf import settings

from workers import readers
from workers.readers.base import ReadError, Reading

START_SECONDS = 30  # for the server's own start, once
_lock = threading.Lock()


def read_file(path: str | Path) -> Reading:
    """As `workers.readers.read_file`, in a child.

    Raises ReadError as that does, and with the codes `took_too_long`, `too_much_memory` and
    `reader_ended`.
    """
    return run_bounded(readers.read_file, str(path))


def run_bounded(function: Callable[..., Any], *args: Any) -> Any:
    """What `function(*args)` returns, computed within the limits of the settings.

    Args:
        function: of a module's top level that needs neither Django nor the database; arguments and
            result travel by pickle.
    """
    if not settings.READ_PROCESS:
        return function(*args)
    ours, theirs = multiprocessing.Pipe(duplex=False)
    child = _context().Process(target=_run, daemon=True, args=(
        theirs, settings.READ_SECONDS, settings.READ_MEMORY_MB, function, args))
    with _lock:  # the server starts once
        child.start()
    theirs.close()
    try:
        return _answer(ours)
    finally:
        child.kill()
        child.join()
        ours.close()


def _context() -> multiprocessing.context.BaseContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["workers.artifacts.reading_preload"])
    return context


def _answer(ours: Connection) -> Any:
    """What the child found, or the ReadError that says why there is nothing."""
    if not ours.poll(settings.READ_SECONDS + START_SECONDS):
        raise ReadError("took_too_long",
                        f"Reading it takes more than {settings.READ_SECONDS} seconds.")
    try:
        kind, *found = ours.recv()
    except EOFError:
        raise ReadError("reader_ended", "The process that read it ended: it took more than "
                        f"{settings.READ_SECONDS} seconds of the processor, or it crashed."
                        ) from None
    if kind == "error":
        raise ReadError(*found)
    return found[0]


def _run(theirs: Connection, seconds: int, memory_mb: int, function: Callable[..., Any],
         args: tuple) -> None:
    """In the child."""
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    resource.setrlimit(resource.RLIMIT_AS, (memory_mb * 2**20, memory_mb * 2**20))
    try:
        theirs.send(("found", function(*args)))
    except ReadError as error:
        theirs.send(("error", error.code, error.message))
    except MemoryError:
        theirs.send(("error", "too_much_memory", f"Reading it takes more than {memory_mb} MB."))
