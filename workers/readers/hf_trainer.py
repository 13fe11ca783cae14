"""Hugging Face Trainer: the dictionaries it prints and its ``trainer_state.json``.

transformers v4 prints numbers, v5 strings of four digits, neither prints the step. The default
``logging_nan_inf_filter`` prints a NaN loss as 0.0; the gradient norm gives it away. Also covers
the consoles of LLaMA-Factory and ms-swift, which print the same dictionaries.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from workers.readers.base import Sample, Source, register
from workers.readers.hf_records import infer_steps, real_losses
from workers.readers.series import (
    LossSeries,
    TrainingLogReader,
    assemble,
    statistic_values,
    to_float,
    truncated,
)
from workers.readers.source import ReadError, ReadingWarning

TOOL = "transformers Trainer"
RECORD = re.compile(r"""\{['"]loss['"]: [^{}]*\}""")
OPENED = re.compile(r"""\{['"]loss['"]?:?[^}]*$""")
SUMMARY = re.compile(r"""\{['"](?:train_runtime|eval_loss|eval_\w+)['"]: [^{}]*\}""")
# values may be wrapped: np.float64(1.2), tensor(1.2, device='npu:0')
PAIR = re.compile(r"""['"]([^'"]+)['"]: ['"]?(?:[a-z][\w.]*\()?([^,'"{}()]+)""")
PROGRESS = re.compile(r"(\d+)/(\d+) \[")
METRIC = re.compile(r"^\s+(train_(?:loss|samples_per_second|steps_per_second))\s+= +([\d.]+)\s*$")
STEP_KEYS = ("step", "global_step", "global_step/max_steps")


@dataclass
class Printed:
    """What the console shows, in order."""

    records: list[dict[str, float | str]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    summaries: list[dict[str, float | str]] = field(default_factory=list)
    progress: Counter[int] = field(default_factory=Counter)
    reached: dict[int, int] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)
    last: tuple[int, str] = (1, "")

    def take(self, number: int, text: str) -> None:
        """Collect what one line holds."""
        if not text.strip():
            return
        self.last = (number, text)
        for found in RECORD.finditer(text):
            self.records.append(_pairs(found[0]))
            self.lines.append(number)
        for found in SUMMARY.finditer(text):
            self.summaries.append(_pairs(found[0]))
        for done, total in PROGRESS.findall(text):
            self.progress[int(total)] += 1
            self.reached[int(total)] = max(int(done), self.reached.get(int(total), 0))
        if found := METRIC.match(text):
            self.metrics[found[1]] = float(found[2])


def _pairs(text: str) -> dict[str, float | str]:
    pairs: dict[str, float | str] = {}
    for key, raw in PAIR.findall(text):
        number = to_float(raw.strip())
        pairs[key] = raw.strip() if number is None else number
    return pairs


@register
class HfConsoleReader(TrainingLogReader):
    """Trainer dictionaries in a console log."""

    name = "hf_trainer_console"
    tool = TOOL

    def recognises(self, sample: Sample) -> int:
        return 70 if RECORD.search(sample.text) and not sample.is_broken_json else 0

    def series(self, source: Source) -> LossSeries:
        printed = Printed()
        for number, text in source.lines():
            printed.take(number, text)
        warnings = _drop_repeated_epochs(printed)
        if OPENED.search(printed.last[1]) and not RECORD.search(printed.last[1]):
            warnings.append(truncated(*printed.last))
        records = [record for record in printed.records if isinstance(record["loss"], float)]
        shown = [float(record["loss"]) for record in records]
        steps, unit, found = _steps(records, printed)
        norms = [_number(record, "grad_norm") for record in records]
        losses, hidden = real_losses(shown, norms, steps)
        return assemble(
            steps,
            losses,
            meaning="window_mean",
            step_base=1,
            line_of=lambda index: printed.lines[index],
            warnings=warnings + found + hidden,
            tool=TOOL,
            step_unit=unit,
            extras=_console_extras(records, printed),
        )


def _number(record: dict[str, Any], key: str) -> float | None:
    return to_float(record.get(key))


def _drop_repeated_epochs(printed: Printed) -> list[ReadingWarning]:
    """A resumed run starts at an earlier epoch: its records replace those from there on."""
    kept: list[int] = []
    again = None
    for index, record in enumerate(printed.records):
        epoch = _number(record, "epoch")
        previous = _number(printed.records[kept[-1]], "epoch") if kept else None
        if epoch is not None and previous is not None and epoch < previous:
            again = again or printed.lines[index]
            kept = [i for i in kept if (_number(printed.records[i], "epoch") or 0) < epoch]
        kept.append(index)
    dropped = len(printed.records) - len(kept)
    printed.records = [printed.records[index] for index in kept]
    printed.lines = [printed.lines[index] for index in kept]
    if not dropped:
        return []
    message = f"The run was resumed; {dropped} earlier records of the same epochs do not count."
    return [ReadingWarning("repeated_steps", message, again)]


def _steps(
    records: list[dict[str, Any]], printed: Printed
) -> tuple[list[int], Any, list[ReadingWarning]]:
    """Step numbers: as printed, else inferred from progress, run time and epochs, else 1, 2, …"""
    for key in STEP_KEYS:
        if records and all(key in record for record in records):
            return [int(str(r[key]).split("/")[0].split(".")[0]) for r in records], "step", []
    count = len(records)
    done = _steps_done(printed)
    inferred = infer_steps(count, done, [_number(record, "epoch") for record in records])
    if inferred is None:
        message = "The log names no steps and they cannot be inferred: records are numbered 1, 2, …"
        return list(range(1, count + 1)), "record", [ReadingWarning("steps_unknown", message)]
    message = (
        f"The log names no steps; they are inferred from {done} steps in {count} records. "
        "trainer_state.json names them."
    )
    return inferred, "step", [ReadingWarning("steps_inferred", message)]


def _steps_done(printed: Printed) -> int | None:
    """Optimizer steps the run took: from the progress bar, else run time × steps per second."""
    finished = next((s for s in printed.summaries if "train_runtime" in s), None)
    training = [total for total in printed.progress if total >= len(printed.records)]
    if training:
        total = max(training, key=lambda number: printed.progress[number])
        return total if finished else printed.reached[total]
    if finished is None:
        return None
    rate = _number(finished, "train_steps_per_second")
    seconds = _number(finished, "train_runtime")
    return round(rate * seconds) if rate and seconds else None


def _console_extras(records: list[dict[str, Any]], printed: Printed) -> dict[str, Any]:
    summary: dict[str, Any] = {}
    for one in printed.summaries:
        summary.update(one)
    return {
        "grad_norm": _norm_values([_number(record, "grad_norm") for record in records]),
        **summary_extras({**summary, **printed.metrics}),
    }


def _norm_values(norms: list[float | None]) -> dict[str, Any] | None:
    return statistic_values([norm for norm in norms if norm is not None])


def summary_extras(summary: dict[str, Any]) -> dict[str, Any]:
    """Throughput, run time and evaluation from Trainer's final numbers."""
    throughput = {
        "samples_per_second": _number(summary, "train_samples_per_second"),
        "steps_per_second": _number(summary, "train_steps_per_second"),
    }
    found = {key: value for key, value in throughput.items() if value is not None}
    evaluation = {
        key: value
        for key, value in summary.items()
        if key.startswith("eval_") and isinstance(value, int | float)
    }
    return {
        "throughput": found or None,
        "train_loss": _number(summary, "train_loss"),
        "train_runtime_s": _number(summary, "train_runtime"),
        "evaluation": evaluation or None,
    }


@register
class TrainerStateReader(TrainingLogReader):
    """``trainer_state.json``: names the steps, holds bare NaN."""

    name = "hf_trainer_state"
    tool = TOOL

    def recognises(self, sample: Sample) -> int:
        if '"log_history"' not in sample.text and '"global_step"' not in sample.text:
            return 0
        state = sample.json
        return 95 if isinstance(state, dict) and "log_history" in state else 0

    def series(self, source: Source) -> LossSeries:
        state = source.json
        if not isinstance(state["log_history"], list):
            raise ReadError("damaged_file", "log_history is not a list.")
        records = [r for r in state["log_history"] if to_float(r.get("loss")) is not None]
        shown = [float(record["loss"]) for record in records]
        steps = [int(record["step"]) for record in records]
        norms = [_number(record, "grad_norm") for record in records]
        losses, hidden = real_losses(shown, norms, steps)
        interval = to_float(state.get("logging_steps"))
        last = {key: value for record in state["log_history"] for key, value in record.items()}
        return assemble(
            steps,
            losses,
            meaning="window_mean",
            step_base=1,
            interval=int(interval) if interval and interval >= 1 else None,
            warnings=hidden,
            tool=TOOL,
            extras={
                "total_steps": state.get("max_steps"),
                "grad_norm": _norm_values(norms),
                **summary_extras(last),
            },
        )
