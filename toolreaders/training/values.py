"""What readings of training logs hold, by kind."""

from __future__ import annotations

from typing import TypedDict

from toolreaders.value_types import Number, Record


class Loss(TypedDict):
    """A loss curve in numbers; `mean` of the finite values."""

    points: int
    first_step: int | None
    last_step: int | None
    first: Number | None
    last: Number | None
    mean: Number | None
    nonfinite: int
    first_nonfinite_step: int | None


class GradientNorm(TypedDict):
    """Gradient norms; `explained`: how many that are not finite belong to a skipped update."""

    points: int
    first: Number
    last: Number
    mean: Number | None
    max: Number | None
    nonfinite: int
    explained: int


class Times(TypedDict):
    """Times of iterations; `mean`, `median`, `points` without those of warming up."""

    mean: Number
    mean_all: Number
    median: Number
    median_all: Number
    points: int
    warm_up_excluded: int
    first: Number


class Run(TypedDict, total=False):
    """One of several runs or ranks in a log; steps are null where the log names none."""

    rank: str | None
    run: int
    points: int
    first_step: int | None
    last_step: int | None
    first: Number
    last: Number
    first_epoch: Number | None
    last_epoch: Number | None
    first_line: int
    last_line: int
    train_runtime_s: Number | None
    train_loss: Number | None


class FailureLine(TypedDict):
    """A line that tells why a run stopped."""

    kind: str
    code: str | None
    line: int
    text: str


class Cause(TypedDict):
    """Why a run failed: `sentence` is `headline` with its `values`; `fault` is environment, script,
    hardware, cluster or empty; `versions` those of CANN whose table has the code; `waits` of a rank
    that waited for another one."""

    cause: str
    fault: str
    headline: str
    line: int | None
    quote: str
    remedy: str
    sentence: str
    source: str
    values: dict[str, str]
    versions: str
    waits: bool


class ToolLog(TypedDict, total=False):
    """A log without losses: errors, codes, whether the run succeeded."""

    cause: Cause | None
    codes: list[str]
    errors: list[str]
    exception: str | None
    failures: list[FailureLine]
    form: str
    lines: int
    results: list[str]
    succeeded: bool | None


class TrainingArguments(TypedDict, total=False):
    """The arguments that a training run printed."""

    arguments: dict[str, str]
    lines: dict[str, int]


class TrainingLog(TypedDict, total=False):
    """The loss curve of a training run, and what else its log says."""

    cause: Cause | None
    evaluation: Record | None
    failures: list[FailureLine] | None
    first_step: int
    grad_norm: GradientNorm | None
    interval: int | None
    iteration_time_ms: Times
    last_step: int
    lines: dict[str, int]
    loss: Loss | None
    loss_parts: dict[str, Record]
    margins: dict[str, Number]
    meaning: str
    memory: Record
    metrics: Record | None
    overflows: int
    points: int
    runs: list[Run] | None
    skipped_iterations: int
    started: Record
    step_base: int
    step_unit: str
    steps_proven: bool
    tag: str
    tags: list[str]
    throughput: dict[str, Number]
    total_steps: int
    train_loss: Number
    train_runtime_s: Number | None
    zero_loss_steps: int


KINDS = {
    "tool_log": ToolLog,
    "training_arguments": TrainingArguments,
    "training_log": TrainingLog,
}
