"""What readings of comparisons and dumps hold, by kind."""

from __future__ import annotations

from typing import TypedDict

from toolreaders.value_types import Number, Record


class AccuracyAdvice(TypedDict, total=False):
    """What a tool advises after a comparison, and at which operator."""

    advice: str
    data_row: int | None
    detection_type: str
    form: str
    operator_index: int
    spreadsheet_row: int | None
    suspect_nodes: str | None


class AccuracyCompare(TypedDict, total=False):
    """Operators of two runs compared one by one: cosine, errors, what has no counterpart."""

    apis: int
    apis_not_same: int
    bench_nonfinite: int
    bench_only: int
    columns: int
    deviating: int
    deviating_ops: list[str]
    deviating_passed_by_tool: int
    dtype_mismatches: int
    dtypes: dict[str, Record]
    fail_reasons: list[str]
    first_deviating: str | None
    first_deviating_output: Record | None
    first_deviating_row: Record | None
    first_dtype_mismatch_row: int | None
    first_flagged_by_tool: Record | None
    first_low_cosine: Record | None
    first_nonfinite: str | None
    first_nonfinite_row: Record | None
    first_unmatched: str | None
    first_unmatched_row: Record | None
    form: str
    low_cosine: int
    lowest_cosine_row: Record
    max_relative_error: Number | None
    max_scaled_error: Number | None
    max_scaled_error_name: str | None
    md5_differences: int
    min_cosine: Number | None
    min_cosine_name: str | None
    mode: str
    nonfinite: int
    nonfinite_ops: list[str]
    npu_nonfinite: int
    npu_only: int
    ops: int
    overflow: dict[str, int]
    rows: int
    shape_mismatches: int
    suspect: str | None
    suspect_row: Record | None
    tool_verdicts: dict[str, int]
    unmatched: int
    unmatched_ops: list[str]
    verdict_column: str


class AccuracyDump(TypedDict, total=False):
    """What was dumped of a run: entries, steps, ranks, values that are not finite."""

    calls: int
    directions: dict[str, int]
    dtypes: dict[str, int]
    entries: int
    first_nonfinite: str | Record | None
    first_nonfinite_output: str | None
    form: str
    framework: str | None
    level: str
    nonfinite: int
    nonfinite_ops: list[str]
    points: int
    ranks: list[int]
    roots: int
    stacks: int
    steps: list[int]
    tables: dict[str, int]
    targets: int
    task: str
    tensors: int


class AccuracyGraph(TypedDict, total=False):
    """Two graphs side by side, with a precision per node."""

    form: str
    graph_type: str
    least_precise: list[Record]
    nodes: int
    npu_nodes: int
    overflow_nodes: list[str]
    tables: dict[str, int]
    task: str


class AccuracyMerge(TypedDict, total=False):
    """Comparisons of several ranks merged into one table."""

    form: str
    nonfinite: int
    nonfinite_names: list[str]
    ranks: list[str]
    rows: int
    sheets: dict[str, Record]


class ApiAccuracy(TypedDict, total=False):
    """Single APIs run on both devices: the tool's verdict on each."""

    apis: int
    error_names: list[str]
    errors: int
    first_error: str | None
    form: str
    nonfinite: int
    nonfinite_names: list[str]
    rows: int
    tool_verdicts: Record
    warning_names: list[str]
    warnings: int


class ConfigCheck(TypedDict, total=False):
    """Settings, packages, seeds and weights of two runs, and where they differ."""

    count: int
    counts: Record
    differences: list[Record]
    environment: dict[str, str]
    findings: list[Record]
    form: str
    hyperparameters: dict[str, Record]
    lines: dict[str, int]
    members: list[str]
    not_compared: list[str]
    packages: dict[str, str]
    passed: bool
    ranks: list[int]
    settings: Record
    sheets: dict[str, Record]
    steps: list[int]
    summary: dict[str, str]


class Overflow(TypedDict, total=False):
    """Operators whose results overflowed, with the status bits that say how."""

    bits: list[Record]
    blocks: list[Record]
    first_op: str | None
    first_rank: str
    form: str
    op_count: int
    ops: list[Record]
    overflow: bool
    overflow_blocks: list[str]
    ranks: dict[str, list[Record]]
    status: int
    stream_id: int | None
    task_id: int


KINDS = {
    "accuracy_advice": AccuracyAdvice,
    "accuracy_compare": AccuracyCompare,
    "accuracy_dump": AccuracyDump,
    "accuracy_graph": AccuracyGraph,
    "accuracy_merge": AccuracyMerge,
    "api_accuracy": ApiAccuracy,
    "config_check": ConfigCheck,
    "overflow": Overflow,
}
