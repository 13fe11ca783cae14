"""How far a document on order is: reported by the render process, shown on the page that waits.

Kept in the cache only: what is lost changes nothing but what a person sees meanwhile.
"""

import logging
import re
import time
from collections.abc import Callable, Iterable
from typing import Any

from django.core.cache import cache

LOGGER = logging.getLogger("weasyprint.progress")  # WeasyPrint 70 tells of its steps there
PAGE = re.compile(r"Page (\d+)")
EVERY_SECONDS, CACHE_SECONDS = 1, 120


def report_progress(order: int, function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """What `function(*args, **named)` returns; meanwhile its pages are counted under the order."""
    teller, level = _Teller(order), LOGGER.level
    LOGGER.addHandler(teller)
    LOGGER.setLevel(logging.INFO)
    try:
        return function(*args, **named)
    finally:
        LOGGER.removeHandler(teller)
        LOGGER.setLevel(level)


def pages(orders: Iterable[int]) -> dict[int, int]:
    """Pages laid out so far, by order; only orders of which something was counted."""
    keys = {_key(order): order for order in orders}
    return {keys[key]: count for key, count in cache.get_many(keys).items()}


def _key(order: int) -> str:
    return f"render-progress:{order}"


class _Teller(logging.Handler):
    """Layout goes through the pages more than once; the furthest is stored, once a second."""

    def __init__(self, order: int):
        super().__init__()
        self.order, self.furthest, self.written_at = order, 0, 0.0

    def emit(self, record: logging.LogRecord) -> None:
        found = PAGE.search(record.getMessage())
        if not found or int(found[1]) <= self.furthest:
            return
        self.furthest = int(found[1])
        if time.monotonic() - self.written_at >= EVERY_SECONDS:
            self.written_at = time.monotonic()
            cache.set(_key(self.order), self.furthest, CACHE_SECONDS)
