"""What readings of conversions hold, by kind."""

from __future__ import annotations

from typing import TypedDict

from toolreaders.value_types import Number, Record


class AippConfig(TypedDict, total=False):
    """Preprocessing that ATC puts before a model, and what in it contradicts itself."""

    faults: list[str]
    input_count: int
    inputs: list[Record]


class ConversionLog(TypedDict, total=False):
    """A conversion by ATC: whether it succeeded, its error codes, its fusions."""

    amct_errors: list[str]
    cause: str | None
    codes: list[str]
    documents: int
    effect_times: int
    errors: list[Record]
    first_code: str | None
    form: str
    match_times: int
    op_count: int
    op_types: list[str]
    ops: list[Record]
    parameters: list[Record]
    passes: dict[str, int]
    sessions: list[str]
    solution: str | None
    stage: str | None
    succeeded: bool | None
    tool_warning_count: int
    tool_warnings: list[Record]
    traceback: list[str]


class MigrationAnalysis(TypedDict, total=False):
    """What a script needs changed, as the transplant tool sees it."""

    apis: dict[str, int]
    columns: list[str]
    ended: str
    errors: list[str]
    files: int | dict[str, int]
    files_completed: int
    files_not_completed: list[str]
    form: str
    functions: list[str]
    items: list[Record]
    levels: dict[str, int]
    lines: int
    not_python: int
    old_format: bool
    operations: dict[str, int]
    output: str | None
    progress_percent: Number
    rows: int
    skipped_files: list[str]
    started: str
    statistics: dict[str, int]
    succeeded: bool | None
    table: str | None


class OnnxModel(TypedDict, total=False):
    """Inputs, operators and opset of an ONNX model."""

    inputs: list[str]
    ir_version: int
    nodes: int
    operators: dict[str, int]
    opset: int
    opsets: dict[str, int]
    producer: str | None


class PerformanceTuning(TypedDict, total=False):
    """A tuning by AOE: times before and after, what was tuned."""

    baseline_ms: Number | None
    errors: list[str]
    failed_operators: list[str]
    form: str
    improvement: Number | None
    improvement_printed: str | None
    operators: int | None
    operators_finished: int
    repository: dict[str, int]
    result: str
    result_ms: Number | None
    seconds: Number | None
    succeeded: bool | None
    tasks: list[Record]
    tuned_operators: list[Record]
    tuning: str
    tunings: list[Record]


class Quantization(TypedDict, total=False):
    """How the weights of a model were quantised."""

    form: str
    format_version: str | None
    group_size: int | None
    keys: int
    quant_type: str
    quantised: int
    schemes: dict[str, int]
    weights: int


class ScriptTransplant(TypedDict, total=False):
    """What the transplant tool changed in a script."""

    deleted_imports: list[str]
    ended: str
    errors: list[str]
    files: int | dict[str, int]
    files_completed: int
    files_not_completed: list[str]
    form: str
    items: list[Record]
    levels: dict[str, int]
    lines: int
    not_python: int
    old_format: bool
    operations: dict[str, int]
    output: str | None
    progress_percent: Number | None
    rows: int
    skipped_files: list[str]
    started: str
    statistics: dict[str, int]
    succeeded: bool | None


class TfConversion(TypedDict, total=False):
    """A TensorFlow 1 script converted: changes, APIs by how they are supported."""

    apis: dict[str, int]
    changes: int
    classes: dict[str, int]
    files: int | dict[str, int]
    files_finished: int
    form: str
    items: list[Record]
    layout: str | None
    lines: int
    output: str | None
    report: str | None
    rows: int
    skipped_files: list[str]
    succeeded: bool
    sum_of_classes: int
    support_column: str
    total: int | None
    unique: Record | None
    unsupported: int
    unsupported_apis: dict[str, int]


KINDS = {
    "aipp_config": AippConfig,
    "conversion_log": ConversionLog,
    "migration_analysis": MigrationAnalysis,
    "onnx_model": OnnxModel,
    "performance_tuning": PerformanceTuning,
    "quantization": Quantization,
    "script_transplant": ScriptTransplant,
    "tf_conversion": TfConversion,
}
