"""How far a running job is: the rest of its time, and each series of its log as a chart."""

import math
import re
from collections.abc import Callable, Sequence

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from workers.labels.line_charts import LineChart, line_chart
from workers.logs import early_warnings, live_log
from workers.models import Job, JobLog

MOST_VALUES = 5000  # of a series, its last ones
NUMBER = rb"['\"]?\s*[:=]\s*([-+]?\d+\.?\d*(?:[eE][-+]?\d{1,3})?)"
STEP = re.compile(rb"(?<![a-z])(?:iteration|step|iter)['\"]?(?:\s*[:=]\s*|\s+|(?=\[))\[?\s*(\d+)",
                  re.IGNORECASE)
# As Megatron, Transformers and DeepSpeed print them.
SERIES = (
    (gettext_lazy("Loss"), early_warnings.LOSS),
    (gettext_lazy("Gradient norm"), re.compile(rb"grad[_ ]norm" + NUMBER, re.IGNORECASE)),
    (gettext_lazy("Learning rate"), re.compile(
        rb"(?:learning[_ ]rate|(?<![\w.])lr)" + NUMBER, re.IGNORECASE)),
    (gettext_lazy("Time per step (ms)"), re.compile(
        rb"elapsed time per iteration \(ms\)" + NUMBER)),
    (gettext_lazy("Samples or tokens per second"), re.compile(
        rb"(?:samples|tokens)(?:/s(?:ec)?|[_ ]per[_ ]sec(?:ond)?)" + NUMBER, re.IGNORECASE)),
)


def remaining_seconds(job: Job) -> int | None:
    """Expected rest of a running job, from its progress so far."""
    if not (job.started_at and job.progress_total and job.progress_done):
        return None
    elapsed = (timezone.now() - job.started_at).total_seconds()
    return int(elapsed / job.progress_done * (job.progress_total - job.progress_done))


Points = Sequence[tuple[float, float]]


def series_charts(job: Job, baseline: Callable[[], Points] = tuple) -> list[LineChart]:
    """The last values of every series that the end of a log of the job holds at least two of.

    Args:
        baseline: the loss by step that a loss by step is drawn over; asked for only then.
    """
    return [*_of_log(job, "", baseline),
            *(chart for log in job.logs.all() for chart in _of_log(log, log.name, baseline))]


def _of_log(log: Job | JobLog, name: str, baseline: Callable[[], Points]) -> list[LineChart]:
    end, found = live_log.tail(log, 2**20).encode(), []
    for title, pattern in SERIES:
        steps, values = _series(end, pattern)
        axis = _("Step") if steps else _("Entry in the log")
        xs = steps or range(1, len(values) + 1)
        beside = baseline() if steps and pattern is early_warnings.LOSS else ()
        found.append(line_chart(str(title), axis, xs, values, name, beside))
    return [chart for chart in found if chart]


def _series(text: bytes, pattern: re.Pattern) -> tuple[list[int], list[float]]:
    """Steps and values of a series; no steps where a line has none, or they do not ascend."""
    found = [(match.start(), value) for match in [*pattern.finditer(text)][-MOST_VALUES:]
             if math.isfinite(value := float(match[1]))]
    values, steps = [value for _at, value in found], []
    for at, _value in found:
        end = text.find(b"\n", at)
        step = STEP.search(text, text.rfind(b"\n", 0, at) + 1, len(text) if end < 0 else end)
        if not step or (steps and int(step[1]) < steps[-1]):
            return [], values
        steps.append(int(step[1]))
    return ([] if steps and steps[0] == steps[-1] else steps), values
