"""What a log line is about: the request, task, job and person of the moment."""

import contextlib
import logging
from collections.abc import Iterator
from contextvars import ContextVar

_CONTEXT: ContextVar[dict | None] = ContextVar("log_context", default=None)


def _facts() -> dict:
    return _CONTEXT.get() or {}


def request_number() -> str:
    """Of the request of the moment; empty outside of one."""
    return _facts().get("request_id", "")


@contextlib.contextmanager
def log_context(**facts) -> Iterator[None]:
    """Lines that are logged inside carry these facts, besides those from around."""
    mark = _CONTEXT.set({**_facts(), **facts})
    try:
        yield
    finally:
        _CONTEXT.reset(mark)


class ContextFilter(logging.Filter):
    """Puts the facts on a record: as attributes for JSON, as `context` for a line of text."""

    def filter(self, record: logging.LogRecord) -> bool:
        facts = _facts()
        for name, value in facts.items():
            setattr(record, name, value)
        text = " ".join(f"{name}={value}" for name, value in facts.items())
        record.context = f" [{text}]" if text else ""
        return True
