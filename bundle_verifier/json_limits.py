"""JSON from outside: bounded in depth and in the size of its numbers before anything reads it."""

import json
import math
from typing import Any

from bundle_verifier.translation import gettext as _

MAX_DEPTH = 64  # levels of lists and objects
MAX_INTEGER = 2**63 - 1  # what a database column holds


class JSONTooComplex(ValueError):
    """Nested deeper than MAX_DEPTH, or with a number beyond 64 bits."""


def parse_json(text: str | bytes, *, may_be_infinite: bool = False) -> Any:
    """The value of a JSON text.

    Args:
        may_be_infinite: for figures that the product wrote; no column takes them.

    Raises:
        ValueError: it is no JSON.
        JSONTooComplex: (a ValueError) it goes beyond the limits above.
    """
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise JSONTooComplex(_("The JSON is nested too deeply.")) from error
    check_limits(value, may_be_infinite=may_be_infinite)
    return value


def check_limits(value: Any, *, may_be_infinite: bool = False) -> None:
    """Raise JSONTooComplex where a parsed value goes beyond the limits; walks without recursion."""
    level, depth = [value], 0
    while level:
        if depth > MAX_DEPTH:
            raise JSONTooComplex(_("The JSON is nested too deeply."))
        below = []
        for entry in level:
            if isinstance(entry, dict):
                below.extend(entry.values())
            elif isinstance(entry, list):
                below.extend(entry)
            elif (isinstance(entry, int) and abs(entry) > MAX_INTEGER) or (
                    isinstance(entry, float) and not (may_be_infinite or math.isfinite(entry))):
                raise JSONTooComplex(_("The JSON holds a number that is too large."))
        level, depth = below, depth + 1
