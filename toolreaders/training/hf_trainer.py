"""Hugging Face Trainer: the dictionaries it prints and its ``trainer_state.json``.

transformers v4 prints numbers, v5 strings of four digits, neither prints the step. The default
``logging_nan_inf_filter`` prints a NaN loss as 0.0; the gradient norm gives it away. Also covers
the consoles of LLaMA-Factory and ms-swift, which print the same dictionaries.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import isnan
from typing import Any

from toolreaders.base import Reading, Sample, Source, register
from toolreaders.columns import Column, at_indices
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.training.grad_norms import GradientNorms, explained_by_log
from toolreaders.training.hf_records import real_losses
from toolreaders.training.hf_steps import Bars, Known, agreed_total, proven_steps
from toolreaders.training.line_prefixes import prefix_of, without_prefix
from toolreaders.training.run_conditions import EPOCH, LEARNING_RATE
from toolreaders.training.series import (
    LossSeries,
    TrainingLogReader,
    assemble,
    check_count,
    statistic_values,
    to_float,
    to_step,
    truncated,
)

TOOL = "transformers Trainer"
# an estimator of TensorFlow prints “Eval results: {'loss': …, 'global_step': …}”; programs write
# such dictionaries behind “= [” and “(”
RECORD = re.compile(
    r"""(?<!results: )(?<![=(\[])(?<![=(\[] )(?<!["']: )\{['"]loss['"]: [^{}]{0,8000}\}"""
)
PROGRAM = re.compile(r"^(?:import \w|from [\w.]+ import |def \w+\(|class \w+[(:])", re.MULTILINE)
LEAST_OF_PROGRAM = 3
OPENED = re.compile(r"""\{['"]loss['"]?:?[^}]*$""")
SUMMARY = re.compile(r"""\{['"](?:train_runtime|eval_loss|eval_\w+)['"]: [^{}]*\}""")
# values may be wrapped: np.float64(1.2), tensor(1.2, device='npu:0')
FINISHED = re.compile(
    r"\{['\"]train_runtime['\"]: |^\s+train_runtime\s+= +[\d:.]+\s*$", re.MULTILINE
)
PAIR = re.compile(r"""['"]([^'"]+)['"]: ['"]?(?:[a-z][\w.]*\()?([^,'"{}()]+)""")
TOTAL_STEPS = re.compile(r"Total optimization steps = ([\d,]+)")
EPOCHS = re.compile(r"Num Epochs = ([\d,]+)")
NO_DATA = r"(?![^\]\n]{0,80}examples/s)"  # not the bar of a dataset that is prepared
BAR = rf"(?<!\d)(?P<done>\d{{1,18}})/(?P<total>\d{{1,18}}) \[{NO_DATA}"
LINE = re.compile(rf"{BAR}|{RECORD.pattern}")
METRIC = re.compile(r"^\s+(train_(?:loss|samples_per_second|steps_per_second))\s+= +([\d.]+)\s*$")
WITH_LOSS = {"epoch", "learning_rate", "grad_norm", "step", "global_step"}
WITH_LOSS |= {"global_step/max_steps", "memory(GiB)", "lr"}
STEP_KEYS = ("step", "global_step", "global_step/max_steps")
SHOWN = {"reward", "reward_std", "kl", "entropy", "completion_length", "completions/mean_length",
         "rewards/chosen", "rewards/rejected", "rewards/accuracies", "rewards/margins"}  # fmt: skip
"""Of TRL: GRPO, whose loss says little, and DPO."""
MOST_NAMES = 1000  # of metrics; a log has a dozen
MOST_PROCESSES = 4096


@dataclass
class Printed:
    """What the console shows, in order; records are kept as columns."""

    losses: Column = field(default_factory=Column)
    norms: Column = field(default_factory=Column)
    epochs: Column = field(default_factory=Column)
    lines: array[int] = field(default_factory=lambda: array("q"))
    steps: dict[str, array[int]] = field(
        default_factory=lambda: {key: array("q") for key in STEP_KEYS}
    )
    damaged: array[int] = field(default_factory=lambda: array("q"))
    summary: dict[str, float | str] = field(default_factory=dict)
    bars: Bars = field(default_factory=Bars)
    named: dict[str, int] = field(default_factory=dict)
    shown: dict[str, dict[int, float]] = field(default_factory=dict)
    """What reinforcement learning prints beside its losses, by record."""
    last_rate: float | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    last: tuple[int, str] = (1, "")
    ended: list[tuple[int, dict[str, float | str]]] = field(default_factory=list)
    """Of each run that ended: how many records stand before its end, and its summary."""

    @property
    def all_metrics(self) -> dict[str, float | str]:
        """What the last run's end says."""
        return {**self.metrics, **self.summary}

    def take(self, number: int, text: str) -> None:
        """Collect what one line holds."""
        if not text.strip():
            return
        self.last = (number, text)
        is_bar = "/" in text and " [" in text
        for found in LINE.finditer(text) if is_bar or "loss" in text else ():
            if found["total"]:
                self.bars.append(int(found["done"]), int(found["total"]), len(self.lines))
            else:
                self._take_record(number, _pairs(found[0]))
        for found in SUMMARY.finditer(text):
            if len(self.summary) < MOST_NAMES:
                self.summary.update(_pairs(found[0]))
        if found := METRIC.match(text):
            self.metrics[found[1]] = float(found[2])
        for name, pattern in (("steps", TOTAL_STEPS), ("epochs", EPOCHS)):
            if found := pattern.search(text):
                self.named[name] = int(found[1].replace(",", ""))

    def _take_record(self, number: int, record: dict[str, float | str]) -> None:
        loss = record["loss"]
        if not isinstance(loss, float):
            self.damaged.append(number)
            return
        epoch, before = to_float(record.get("epoch")), (self.epochs.values or [0.0])[-1]
        is_later = epoch is not None and epoch >= before
        if "train_runtime" in self.all_metrics and not is_later:  # what follows is of another run
            self.ended.append((len(self.lines), self.all_metrics))
            self.summary, self.metrics, self.named = {}, {}, {}
        for key in SHOWN & record.keys():
            if isinstance(value := record[key], float):
                self.shown.setdefault(key, {})[len(self.lines)] = value
        self.losses.append(loss)
        self.last_rate = to_float(record.get("learning_rate"))
        self.norms.append(to_float(record.get("grad_norm")))
        self.epochs.append(epoch)
        self.lines.append(number)
        for key in tuple(self.steps):
            step = to_step(record.get(key))
            if step is None:
                del self.steps[key]
            else:
                self.steps[key].append(step)
        check_count(len(self.lines))


def _is_record(text: str) -> bool:
    """A program builds such a dictionary of names; the Trainer prints numbers or what is left."""
    pairs = _pairs(text)
    begins = str(pairs.get("loss", ""))[:1]
    is_whole = all(isinstance(value, float) for value in pairs.values())
    return (is_whole or bool(WITH_LOSS & pairs.keys())) and begins != "" and (
        begins.isdigit() or begins in "-+.ni?")


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
    is_console = True
    version = "4"
    tool = TOOL

    def recognises(self, sample: Sample) -> int:
        if len(PROGRAM.findall(sample.text)) >= LEAST_OF_PROGRAM or sample.is_broken_json:
            return 0
        if any(_is_record(found[0]) for found in RECORD.finditer(sample.text)):
            return 70
        return 30 if FINISHED.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        printed, warnings = _printed(source)
        if len(printed.lines) or printed.damaged or not (printed.summary or printed.metrics):
            return super().read(source)
        message = "The run printed its summary but no loss of a step."
        warnings.append(ReadingWarning("no_loss_points", message))
        summary = summary_extras(printed.all_metrics)
        return self.reading({"loss": None, **summary}, warnings=warnings)

    def series(self, source: Source) -> LossSeries:
        printed, warnings = _printed(source)
        warnings += _damaged(printed)
        selected = _last_run(printed.epochs)
        if printed.ended:
            selected = [place for place in selected if place >= printed.ended[-1][0]]
        if len(selected) < len(printed.lines):
            warnings.append(_resumed(printed, selected))
        if OPENED.search(printed.last[1]) and not RECORD.search(printed.last[1]):
            warnings.append(truncated(*printed.last))
        steps, unit, found = _steps(printed, selected)
        lines = at_indices(printed.lines, selected)
        norms = GradientNorms.of(
            printed.norms.keep(selected), lambda: explained_by_log(source, lines))  # fmt: skip
        losses, hidden = at_indices(printed.losses.values, selected), []
        if "reward" not in printed.shown:  # GRPO's loss is 0 where all answers earn alike
            losses, hidden = real_losses(losses, norms, steps)
        return assemble(
            steps,
            losses,
            meaning="window_mean",
            step_base=1,
            line_of=lambda index: printed.lines[selected[index]],
            warnings=warnings + found + hidden,
            tool=TOOL,
            step_unit=unit,
            unprovable="steps_unproven" if unit == "record" else None,
            runs=_runs(printed),
            norms=norms,
            extras=summary_extras(printed.all_metrics) | {"metrics": {
                key: statistic_values(by_record[place] for place in selected if place in by_record)
                for key, by_record in sorted(printed.shown.items())}},
        )


def _runs(printed: Printed) -> list[dict[str, Any]]:
    """Each run of a log in which several ended, with its own times."""
    if not printed.ended:
        return []
    ends = [*printed.ended, (len(printed.lines), printed.all_metrics)]
    starts = [0, *(end for end, _summary in printed.ended)]
    return [
        {
            "rank": None, "run": number, "points": end - start,
            "first_step": None, "last_step": None,
            "first": printed.losses.values[start], "last": printed.losses.values[end - 1],
            "first_epoch": next(iter(printed.epochs.keep([start]).known), None),
            "last_epoch": next(iter(printed.epochs.keep([end - 1]).known), None),
            "first_line": printed.lines[start], "last_line": printed.lines[end - 1],
            "train_runtime_s": _number(summary, "train_runtime"),
            "train_loss": _number(summary, "train_loss"),
        }
        for number, (start, (end, summary)) in enumerate(zip(starts, ends, strict=True), 1)
    ]  # fmt: skip


def _number(record: dict[str, Any], key: str) -> float | None:
    return to_float(record.get(key))


def _damaged(printed: Printed) -> list[ReadingWarning]:
    if not printed.damaged:
        return []
    message = f"{len(printed.damaged)} records have no number as their loss and were left out."
    return [ReadingWarning("damaged_lines", message, printed.damaged[0])]


def _last_run(epochs: Column) -> Sequence[int]:
    """Indices that count: a resumed run starts at an earlier epoch, and its records replace those
    from there on."""
    values = [0.0 if isnan(epoch) else epoch for epoch in epochs.values]
    has_value = epochs.has_value
    if all(has_value) and all(before <= after for before, after in pairwise(values)):
        return range(len(values))
    run: list[int] = []
    for index, epoch in enumerate(values):
        if has_value[index] and run and has_value[run[-1]] and epoch < values[run[-1]]:
            while run and values[run[-1]] >= epoch:
                run.pop()
        run.append(index)
    return run


def _resumed(printed: Printed, selected: Sequence[int]) -> ReadingWarning:
    dropped = sorted(set(range(len(printed.lines))).difference(selected))
    if dropped[-1] < selected[0]:
        message = f"The log holds several runs; the last one counts, {len(dropped)} records do not."
        return ReadingWarning("several_runs", message, printed.lines[selected[0]])
    again = next((printed.lines[place] for place in selected if place > dropped[0]), None)
    message = (
        f"The run was resumed; {len(dropped)} earlier records of the same epochs do not count."
    )
    return ReadingWarning("repeated_steps", message, again)


def _printed(source: Source) -> tuple[Printed, list[ReadingWarning]]:
    """What the process with most records printed, the first of equals."""
    processes: dict[str, Printed] = {"": Printed()}
    for number, text in source.lines():
        label = prefix_of(text)
        if label not in processes and len(processes) < MOST_PROCESSES:
            processes[label] = Printed()
        processes.get(label, processes[""]).take(number, without_prefix(text) if label else text)
    chosen = max(processes, key=lambda label: len(processes[label].lines))
    others = sum(len(printed.lines) for printed in processes.values())
    others -= len(processes[chosen].lines)
    if not others:
        return processes[chosen], []
    message = f"Several processes print losses; “{chosen}” counts, {others} records are left out."
    return processes[chosen], [ReadingWarning("interleaved_ranks", message)]


def _steps(
    printed: Printed, selected: Sequence[int]
) -> tuple[Sequence[int], Any, list[ReadingWarning]]:
    """Step numbers: as printed, else those that follow from epochs and totals, else 1, 2, …"""
    for steps in printed.steps.values():
        return at_indices(steps, selected), "step", []
    count = len(selected)
    known = _known(printed, selected)
    proven = proven_steps(count, known) if known else None
    if known and proven is None:  # records may be written later than they were made
        low = None if known.low is None else [0] * len(known.low)
        proven = proven_steps(count, replace(known, low=low))
    if known is None or proven is None:
        message = "The log names no steps and does not prove them: records are numbered 1, 2, …"
        return range(1, count + 1), "record", [ReadingWarning("steps_unknown", message)]
    message = (
        f"The log names no steps; they follow from {known.total} steps in all and the epochs. "
        "trainer_state.json names them."
    )
    return proven, "step", [ReadingWarning("steps_inferred", message)]


def _known(printed: Printed, selected: Sequence[int]) -> Known | None:
    """What the log tells about its steps; None where it contradicts itself or names no total."""
    if not len(selected):
        return None
    summary, named = printed.all_metrics, printed.named.get("steps")
    bars = printed.bars.since(selected[0])
    reaches_named = named is not None and bars.reached(named) > 0
    bar = named if reaches_named else bars.total(len(selected))
    rate, seconds = _number(summary, "train_steps_per_second"), _number(summary, "train_runtime")
    total = agreed_total(named, bar, rate, seconds)
    if total is None:
        return None
    final_epoch = _number(summary, "epoch")
    ends = (
        bar is not None and bars.reached(bar) == bar,
        printed.last_rate == 0.0 and len(selected) > 1,
        final_epoch is not None and printed.named.get("epochs") == final_epoch,
    )
    is_whole = "train_runtime" in printed.summary and (any(ends) if bar is None else ends[0])
    low, high = bars.bounds(bar, selected) if bar is not None else (None, None)
    return Known(printed.epochs.keep(selected), total, is_whole, final_epoch, low, high)


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
        shown = array("d", (float(record["loss"]) for record in records))
        steps = array("q", (int(record["step"]) for record in records))
        norms = GradientNorms.of(Column(_number(record, "grad_norm") for record in records))
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
            norms=norms,
            columns={name: Column(_number(record, name) for record in records)
                     for name in (LEARNING_RATE, EPOCH)},
            extras={"total_steps": state.get("max_steps"), **summary_extras(last)},
        )
