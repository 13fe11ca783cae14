"""What each measured quantity is called on pages; in files and in the API the code stands alone."""

import re

from django.utils.translation import gettext as _

from engagements.text.text_joining import bracketed
from toolreaders.verdicts.quantity_rows import row_of

POINT = re.compile(
    r"b(?P<batch>\d+)"
    r"|c(?P<concurrency>\d+),i(?P<input>\d+(?:\.\d+)?),o(?P<output>\d+(?:\.\d+)?)")


def quantity_label(quantity: str) -> str:
    """The quantity in the active language, its task in brackets; one without words as it stands.

    Args:
        quantity: as in `verdicts.quantities`, for example `latency_ms` or `score:gsm8k`.
    """
    name, _colon, task = quantity.partition(":")
    row = row_of(name)
    return f"{_(row.label) if row else name}{bracketed(point_label(task) if task else '')}"


def point_label(point: str) -> str:
    """A point of a benchmark in words; anything else as it stands."""
    found = POINT.fullmatch(point)
    if not found:
        return point
    if found["batch"]:
        return _("batch %(n)s") % {"n": found["batch"]}
    return _("%(n)s concurrent, %(input)s tokens in, %(output)s out") % {
        "n": found["concurrency"], "input": found["input"], "output": found["output"]}


def criterion_name(criterion) -> str:
    """The name of a criterion's definition, with the point at which it is judged."""
    name = criterion.definition.localized_name
    return f"{name}{bracketed(point_label(criterion.point) if criterion.point else '')}"
