"""What each measured quantity is called on pages; in files and in the API the code stands alone."""

import re

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from assessments.performance.gains import METRICS
from engagements.text.text_joining import bracketed

POINT = re.compile(
    r"b(?P<batch>\d+)"
    r"|c(?P<concurrency>\d+),i(?P<input>\d+(?:\.\d+)?),o(?P<output>\d+(?:\.\d+)?)")
WORDS = {
    **{metric.name: metric.label for metric in METRICS},
    "loss_curve": gettext_lazy("Training loss, step by step"),
    "score": gettext_lazy("Evaluation score"),
    "grad_norm_mean": gettext_lazy("Mean gradient norm"),
    "min_cosine": gettext_lazy("Smallest cosine similarity"),
    "human_not_worse": gettext_lazy("Human evaluation, share not worse"),
    "weight_files": gettext_lazy("Weight files that are not empty"),
    "finite_steps": gettext_lazy("Finite losses (share of the recorded steps)"),
    "request_success": gettext_lazy("Answered requests (share)"),
    "changed_parameters": gettext_lazy("Changed parameters (share of tensors)"),
}


def quantity_label(quantity: str) -> str:
    """The quantity in the active language, its task in brackets; one without words as it stands.

    Args:
        quantity: as in `verdicts.quantities`, for example `latency_ms` or `score:gsm8k`.
    """
    name, _colon, task = quantity.partition(":")
    words = str(WORDS.get(name, name))
    return f"{words}{bracketed(point_label(task) if task else '')}"


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
