"""Loss curves in JSON: Megatron-LM golden values and MindSpeed-LLM CI baselines."""

from __future__ import annotations

from math import isfinite
from typing import Any

from toolreaders.base import Sample, Source, register
from toolreaders.columns import Column
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.training.grad_norms import GradientNorms
from toolreaders.training.series import (
    LossSeries,
    TrainingLogReader,
    assemble,
    statistic_values,
    time_values,
    to_float,
)

LOSS = "lm loss"
MEGABYTE = 1024**2


@register
class MegatronGoldenReader(TrainingLogReader):
    """``{metric: {start_step, end_step, step_interval, values: {step: value}}}``.

    tests/functional_tests of Megatron-LM; the string "nan" means that nothing was recorded.
    """

    name = "megatron_golden_values"
    tool = "Megatron-LM"

    def recognises(self, sample: Sample) -> int:
        if '"step_interval"' not in sample.text[:4000]:
            return 0
        golden = sample.json
        return 95 if isinstance(golden, dict) and _loss_name(golden) else 0

    def series(self, source: Source) -> LossSeries:
        golden = source.json
        metric = golden[_loss_name(golden)]
        values = _values_by_step(metric)
        numbers = {step: to_float(value) for step, value in values.items()}
        points = {step: value for step, value in numbers.items() if value is not None}
        missing = [step for step, value in values.items() if value == "nan"]
        warnings = []
        if missing:
            message = f'{len(missing)} values are the string "nan": not recorded, from step '
            warnings.append(ReadingWarning("not_recorded", f"{message}{min(missing)}."))
        return assemble(
            sorted(points),
            [points[step] for step in sorted(points)],
            meaning="point",
            step_base=0 if 0 in points else 1,
            interval=int(metric.get("step_interval") or 0) or None,
            warnings=warnings,
            tool=self.tool,
            extras=_golden_extras(golden),
        )


def _loss_name(golden: dict[str, Any]) -> str | None:
    names = [name for name, metric in golden.items() if isinstance(metric, dict)]
    names = [name for name in names if isinstance(golden[name].get("values"), dict | list)]
    return LOSS if LOSS in names else next((n for n in names if n.endswith("loss")), None)


def _values_by_step(metric: dict[str, Any]) -> dict[int, Any]:
    """Values by step; releases before 0.11 keep a list that starts at ``start_step``."""
    values = metric["values"]
    if isinstance(values, dict):
        return {int(step): value for step, value in values.items()}
    start, interval = int(metric.get("start_step", 0)), int(metric.get("step_interval") or 1)
    return {start + index * interval: value for index, value in enumerate(values)}


def _golden_numbers(golden: dict[str, Any], name: str) -> list[float]:
    values = _values_by_step(golden[name]).values() if name in golden else ()
    numbers = [to_float(value) for value in values]
    return [number for number in numbers if number is not None and isfinite(number)]


def _golden_extras(golden: dict[str, Any]) -> dict[str, Any]:
    peaks = _golden_numbers(golden, "mem-max-allocated-bytes")
    seconds = _golden_numbers(golden, "iteration-time")
    memory = None
    if peaks:
        memory = {"peak_allocated_mb": max(peaks) / MEGABYTE, "peak_allocated_bytes": max(peaks)}
    return {"iteration_time_ms": time_values([1000 * s for s in seconds]), "memory": memory}


@register
class MindSpeedBaselineReader(TrainingLogReader):
    """``{"lm loss": [], "time info": [] in ms, "memo info": [{rank, …}]}``; lists may differ in
    length; memory is MB, in fsdp2 files GB (tests/ of MindSpeed-LLM)."""

    name = "mindspeed_llm_baseline"
    tool = "MindSpeed-LLM"

    def recognises(self, sample: Sample) -> int:
        if '"lm loss"' not in sample.text or '"step_interval"' in sample.text[:4000]:
            return 0
        baseline = sample.json
        return 95 if isinstance(baseline, dict) and isinstance(baseline.get(LOSS), list) else 0

    def series(self, source: Source) -> LossSeries:
        baseline = source.json
        losses = [to_float(value) for value in baseline[LOSS]]
        if None in losses:
            raise ReadError("damaged_file", "A value of “lm loss” is not a number.")
        lengths = {key: len(v) for key, v in baseline.items() if _is_series(key, v)}
        warnings = []
        if len(set(lengths.values())) > 1:
            message = f"The lists differ in length: {lengths}."
            warnings.append(ReadingWarning("list_lengths_differ", message))
        printed = [to_float(value) for value in baseline.get("grad norm", [])][: len(losses)]
        norms = [*printed, *[None] * (len(losses) - len(printed))]
        return assemble(
            range(1, len(losses) + 1),
            losses,
            meaning="point",
            step_base=1,
            warnings=warnings,
            tool=self.tool,
            norms=GradientNorms.of(Column(norms)),
            extras={
                "iteration_time_ms": time_values(baseline.get("time info", [])),
                "throughput": statistic_values(baseline.get("throughput", [])),
                "memory": _memory(baseline.get("memo info", [])),
                "margins": {k: v for k, v in baseline.items() if k.endswith(" margin")},
            },
        )


def _is_series(key: str, value: Any) -> bool:
    return isinstance(value, list) and key != "memo info" and len(value) > 0


def _memory(ranks: list[dict[str, Any]]) -> dict[str, Any] | None:
    peaks: dict[str, float] = {}
    for row in ranks:
        peak = to_float(row.get("max allocated memory"))
        if peak is not None:
            in_gb = str(row.get("format", "")).lower().startswith("fsdp")
            peaks[str(row.get("rank"))] = peak * 1024 if in_gb else peak
    return {"max_allocated_mb": peaks, "peak_allocated_mb": max(peaks.values())} if peaks else None
