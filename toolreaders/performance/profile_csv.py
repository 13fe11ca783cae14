"""CSV files of the Ascend PyTorch Profiler and of msprof (ASCEND_PROFILER_OUTPUT, mindstudio).

Durations are µs unless the column says otherwise; line ends are mixed; timestamps end in a tab;
``Device_id`` and ``Preparing`` are optional; quoted call stacks span lines; ``N/A`` cells occur.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.tables import Table, csv_table
from toolreaders.training.series import to_float

Rows = list[dict[str, str]]
Summary = tuple[dict[str, Any], list[ReadingWarning]]
STEP_PARTS = ("Computing", "Communication(Not Overlapped)", "Overlapped", "Communication", "Free")
STEP_PARTS += ("Stage", "Bubble", "Preparing")
TOLERANCE_US = 0.2
TOP = 10


def _numbers(rows: Rows, column: str) -> list[float]:
    values = [to_float(row.get(column)) for row in rows]
    return [value for value in values if value is not None]


def _steps(rows: Rows) -> Summary:
    """step_trace_time: Stage ≈ Computing + Communication(Not Overlapped) + Free."""
    steps, worst = [], 0.0
    for row in rows:
        parts = {name: to_float(row.get(name)) for name in STEP_PARTS}
        known = {name: value for name, value in parts.items() if value is not None}
        stage = known.get("Stage")
        covered = sum(known.get(name, 0.0) for name in (STEP_PARTS[0], STEP_PARTS[1], "Free"))
        if stage:
            worst = max(worst, abs(covered - stage))
            known["free_share"] = known.get("Free", 0.0) / stage
            known["computing_share"] = known.get("Computing", 0.0) / stage
            known["uncovered_communication_share"] = known.get(STEP_PARTS[1], 0.0) / stage
        names = {"step": row.get("Step") or None}
        if "Type" in row:
            names |= {"type": row["Type"], "index": row["Index"]}
        elif row.get("Device_id"):
            names |= {"device": row["Device_id"]}
        steps.append({**names, **known})
    values: dict[str, Any] = {"steps": steps, "largest_gap_us": worst}
    ranks = [step for step in steps if step.get("type") == "rank" and "Computing" in step]
    if ranks:
        slowest = max(ranks, key=lambda step: step["Computing"])
        values["slowest_computing_rank"] = slowest["index"]
    message = f"Parts and Stage of a step differ by {worst:.3f} µs."
    warnings = [ReadingWarning("inconsistent_figures", message)] if worst > TOLERANCE_US else []
    return values, warnings


def _op_statistic(rows: Rows) -> Summary:
    """op_statistic: one OP Type repeats per Core Type."""
    total = sum(_numbers(rows, "Total Time(us)"))
    by_type: dict[str, float] = defaultdict(float)
    for row in rows:
        by_type[row["OP Type"]] += to_float(row["Total Time(us)"]) or 0.0
    return {
        "total_us": total,
        "count": sum(_numbers(rows, "Count")),
        "top": _top(by_type, total, "type"),
    }, []


def _top(sums: dict[str, float], total: float, name: str) -> list[dict[str, Any]]:
    ordered = sorted(sums.items(), key=lambda pair: -pair[1])[:TOP]
    return [{name: key, "us": us, "share": us / total if total else None} for key, us in ordered]


def _durations(name: str, kind: str, duration: str) -> Callable[[Rows], Summary]:
    """kernel_details and op_summary: sum, maximum and the types that take longest."""

    def summarise(rows: Rows) -> Summary:
        sums: dict[str, float] = defaultdict(float)
        for row in rows:
            sums[row.get(kind, "")] += to_float(row.get(duration)) or 0.0
        found = _numbers(rows, duration)
        longest = max(rows, key=lambda row: to_float(row.get(duration)) or 0.0, default={})
        total = sum(found)
        return {
            "kernels": len(rows),
            "total_us": total,
            "max_us": max(found, default=None),
            "longest": longest.get(name),
            "top": _top(sums, total, "type"),
        }, []

    return summarise


def _api(rows: Rows) -> Summary:
    sums: dict[str, float] = defaultdict(float)
    for row in rows:
        sums[row["API Name"]] += to_float(row["Time(us)"]) or 0.0
    total = sum(sums.values())
    return {"total_us": total, "top": _top(sums, total, "api")}, []


def _peaks(*columns: str) -> Callable[[Rows], Summary]:
    """Peak per component in MB: APP is the whole process, PTA is PyTorch, GE the graph engine."""

    def summarise(rows: Rows) -> Summary:
        peaks: dict[str, dict[str, float]] = {}
        for row in rows:
            for column in columns:
                value = to_float(row.get(column))
                if value is not None:
                    mine = peaks.setdefault(row["Component"], {})
                    key = column.removeprefix("Total ")[: -len("(MB)")].lower() + "_mb"
                    value = value / 1024 if column.endswith("(KB)") else value
                    mine[key] = max(value, mine.get(key, value))
        largest = max(peaks, key=lambda name: max(peaks[name].values()), default=None)
        return {"peaks": peaks, "components": len(peaks), "largest_component": largest}, []

    return summarise


def _operator_memory(rows: Rows) -> Summary:
    return {
        "max_size_kb": max(_numbers(rows, "Size(KB)"), default=None),
        "max_allocated_mb": max(_numbers(rows, "Allocation Total Allocated(MB)"), default=None),
    }, []


def _operators(rows: Rows) -> Summary:
    sums: dict[str, float] = defaultdict(float)
    for row in rows:
        sums[row["Name"]] += to_float(row.get("Device Self Duration(us)")) or 0.0
    total = sum(sums.values())
    return {"device_self_us": total, "top": _top(sums, total, "operator")}, []


def _iterations(rows: Rows) -> Summary:
    """step_trace of msprof: one row per iteration of an offline model."""
    times = _numbers(rows, "Iteration Time(us)")
    mean = sum(times) / len(times) if times else None
    return {"iterations": len(times), "mean_us": mean, "max_us": max(times, default=None)}, []


def _marks(rows: Rows) -> Summary:
    """msprof_tx: time spans that the application marked itself (acl.prof.push and pop,
    range_start and range_stop); older releases state ns, newer ones µs."""
    spans: dict[str, float] = defaultdict(float)
    counts: dict[str, int] = defaultdict(int)
    for row in rows:
        start, end = _time_us(row, "Start_time"), _time_us(row, "End_time")
        message = row.get("message") or row.get("event_type") or ""
        counts[message] += 1
        if start is not None and end is not None:
            spans[message] += end - start
    total = sum(spans.values())
    top = [{**entry, "count": counts[entry["mark"]]} for entry in _top(spans, total, "mark")]
    return {"count": len(rows), "total_us": total, "top": top}, []


def _time_us(row: dict[str, str], name: str) -> float | None:
    """A time in µs, whichever unit its column states; None without one."""
    if (value := to_float(row.get(f"{name}(us)"))) is not None:
        return value
    value = to_float(row.get(f"{name}(ns)"))
    return None if value is None else value / 1000


def _dataset(rows: Rows) -> Summary:
    """dataset of MindSpore: how often each operation of the pipeline ran, and its mean time."""
    sums = {f"{row['Operation']} {row['Stage']}".strip():
            (to_float(row["Occurrences"]) or 0.0) * (to_float(row["Avg. time (us)"]) or 0.0)
            for row in rows}  # fmt: skip
    total = sum(sums.values())
    return {"total_us": total, "top": _top(sums, total, "operation")}, []


def _queues(rows: Rows) -> Summary:
    """minddata_pipeline_raw of MindSpore: how full the queue behind each operation was."""
    used = [{"operation": row["op_type"], "workers": to_float(row["num_workers"]),
             "queue_usage": to_float(row["output_queue_usage_rate"])} for row in rows]
    return {"steps": used}, []


def _blocks(rows: Rows) -> Summary:
    """memory_block of MindSpore's memory tracker: a row per block, in bytes."""
    peak, largest = (max(_numbers(rows, name), default=None)
                     for name in ("actual_peak_memory", "size"))
    return {"peaks": {"MindSpore": {"allocated_mb": peak and peak / MIB}},
            "max_size_kb": largest and largest / 1024}, []


MIB = 2**20
OF_MINDSPORE = ("dataset", "minddata_pipeline_raw", "memory_block")
ACL_SUBSCRIPTION = ("model_id", "op_name", "op_type", "start_ns", "end_ns", "duration_us")
OF_MSPROF = ("msprof_tx", "op_summary", "task_time", "step_trace", "communication_statistic")
FORMS: tuple[tuple[str, tuple[str, ...], Callable[[Rows], Summary]], ...] = (
    ("cluster_step_trace_time", ("Type", "Index", "Computing", "Free", "Stage"), _steps),
    ("step_trace_time", ("Step", "Computing", "Free", "Stage"), _steps),
    ("msprof_tx", ("pid", "tid", "event_type", "Start_time(us)", "message"), _marks),
    ("msprof_tx", ("pid", "tid", "event_type", "Start_time(ns)", "message"), _marks),
    ("op_statistic", ("OP Type", "Core Type", "Total Time(us)"), _op_statistic),
    ("communication_statistic", ("OP Type", "Count", "Total Time(us)", "Ratio(%)"), _op_statistic),
    (
        "task_time",
        ("kernel_name", "kernel_type", "task_time(us)"),
        _durations("kernel_name", "kernel_type", "task_time(us)"),
    ),
    ("step_trace", ("Iteration ID", "Iteration Time(us)"), _iterations),
    (
        "op_summary",
        ("Op Name", "OP Type", "Task Duration(us)"),
        _durations("Op Name", "OP Type", "Task Duration(us)"),
    ),
    (
        "kernel_details",
        ("Name", "Type", "Duration(us)", "Start Time(us)"),
        _durations("Name", "Type", "Duration(us)"),
    ),
    (
        "kernel_details",
        ("Name", "Duration(us)", "Start Time(us)", "Wait Time(us)"),
        _durations("Name", "Accelerator Core", "Duration(us)"),
    ),
    ("acl_subscription", ACL_SUBSCRIPTION, _durations("op_name", "op_type", "duration_us")),
    ("api_statistic", ("Level", "API Name", "Time(us)"), _api),
    (
        "memory_record",
        ("Component", "Timestamp(us)", "Total Allocated(MB)"),
        _peaks("Total Allocated(MB)", "Total Reserved(MB)"),
    ),
    (
        "npu_module_mem",
        ("Component", "Timestamp(us)", "Total Reserved(MB)"),
        _peaks("Total Reserved(MB)"),
    ),
    (
        "npu_module_mem",
        ("Component", "Timestamp(us)", "Total Reserved(KB)"),
        _peaks("Total Reserved(KB)"),
    ),
    ("operator_memory", ("Name", "Size(KB)", "Allocation Total Allocated(MB)"), _operator_memory),
    ("operator_details", ("Name", "Host Self Duration(us)"), _operators),
    ("dataset", ("Operation", "Stage", "Occurrences", "Avg. time (us)"), _dataset),
    ("minddata_pipeline_raw", ("op_id", "op_type", "num_workers", "output_queue_usage_rate"),
     _queues),
    ("memory_block", ("start_time_stamp", "end_time_stamp", "size", "actual_peak_memory"), _blocks),
)


def _form(header: list[str]) -> tuple[str, Callable[[Rows], Summary]] | None:
    for name, columns, summarise in FORMS:
        if set(columns) <= set(header):
            return name, summarise
    return None


@register
class ProfilerCsvReader(Reader):
    """One CSV file of a profile, recognised by its columns."""

    name = "ascend_profiler_csv"
    kind = "profile"
    tool = "Ascend PyTorch Profiler"

    def recognises(self, sample: Sample) -> int:
        return 90 if _form([cell.strip() for cell in sample.first_line.split(",")]) else 0

    def read(self, source: Source) -> Reading:
        table = csv_table(source)
        form = _form(table.header)
        if form is None:
            raise ReadError("damaged_file", "The header has changed within the file.")
        rows, warnings = _complete(table, source)
        if not rows:
            raise ReadError("no_rows", f"The file {form[0]} has a header but no row.")
        values, found = form[1](rows)
        level = "Type" in table.header or "Accelerator Core" not in table.header
        if form[0] == "kernel_details" and not level:
            message = "Level 0 names no operator types: sums are by core."
            found.append(ReadingWarning("level0_profile", message))
        tool = ("msprof" if form[0] in OF_MSPROF else
                "MindSpore Profiler" if form[0] in OF_MINDSPORE else self.tool)
        facts = {"form": form[0], "rows": len(rows)}
        return self.reading({**facts, **values}, warnings=warnings + found, tool=tool)


def _complete(table: Table, source: Source) -> tuple[Rows, list[ReadingWarning]]:
    """Rows as dictionaries; a last row that is short and has no line end is cut off."""
    rows = [dict(zip(table.header, row, strict=False)) for row in table.rows]
    warnings = []
    short = [
        n for n, row in zip(table.lines, table.rows, strict=True) if len(row) < len(table.header)
    ]
    if short and short[-1] == table.lines[-1] and not source.ends_with_newline():
        rows.pop()
        short.pop()
        line = table.lines[-1]
        warnings.append(ReadingWarning("truncated_record", "The last row is cut off.", line))
    if short:
        message = f"{len(short)} rows have fewer cells than the header."
        warnings.append(ReadingWarning("damaged_lines", message, short[0]))
    return rows, warnings
