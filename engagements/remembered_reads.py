"""Each question to the database once: while something is only read, answers are remembered."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, TypeVar

P, R = ParamSpec("P"), TypeVar("R")
_answers: ContextVar[dict[Hashable, Any] | None] = ContextVar("answers", default=None)


@contextmanager
def reading_once() -> Iterator[None]:
    """Inside it nothing is written that a `remembered` function reads: asked again with the same
    rows, it gives the same answer without a query."""
    token = _answers.set({} if (known := _answers.get()) is None else known)
    try:
        yield
    finally:
        _answers.reset(token)


def remembered(function: Callable[P, R]) -> Callable[P, R]:
    """A read whose answer depends on its rows alone, not on the language; outside `reading_once`
    it asks every time. Its arguments are saved rows, or other things that can be hashed."""
    @wraps(function)
    def asked(*args: P.args, **_none: P.kwargs) -> R:
        answers, key = _answers.get(), (function, *args)
        if answers is None:
            return function(*args)
        if key not in answers:
            answers[key] = function(*args)
        return answers[key]

    return asked
