"""AOE, the tuner of offline models: its result files and what it printed.

Releases differ. The report is an object, a list of objects, or lists under ``report_<time>_<id>``;
only tuning for inference states times of the whole model. The last line is ``Aoe process finished``
or ``<task> process finished. Performance improved by 3%``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.source import ReadingWarning
from toolreaders.training.series import to_float

BASELINE = "model_baseline_performance(ms)"
RESULT = "model_result_performance(ms)"
BEFORE, AFTER = "performance_before_tune(us)", "performance_after_tune(us)"
TUNINGS = ("SGAT", "OPAT", "GDAT")
RESULT_KEYS = ("tuning_result", "tune_result")
LISTED = 200
AMOUNT = r"\d+(?:\.\d+)?"
TASK = re.compile(
    r"^(?:\[Aoe\])? ?(?P<task>[^\s`][^`\n]{0,200}?) process finished\. (?P<gain>Performance .*)"
)
PART = re.compile(r"^\[Aoe\].{0,400}?\b(?:Single operator )?[Tt]uning process finished\b")
END = re.compile(
    rf"(?<!`)Aoe process (?P<end>finished|failed)(?:, ?cost time (?P<seconds>{AMOUNT})s)?"
)
GAIN = re.compile(rf"improved by ({AMOUNT}) ?%")
KNOWN = re.compile(rf"{END.pattern}|{TASK.pattern}|{PART.pattern}".replace("?P<", "?P<_"), re.M)
Block = dict[str, Any]


def is_finished(log: str) -> bool:
    """Whether the log holds the line that a tuning prints at its end."""
    return any(_says_its_end(line) for line in log.splitlines())


def _says_its_end(line: str) -> bool:
    ends = (found["end"] for found in END.finditer(line))
    return TASK.search(line) is not None or "finished" in ends


@register
class AoeResultReader(Reader):
    """``aoe_result_*.json``: performance before and after tuning, of the model and of operators."""

    name = "aoe_result"
    version = "2"
    kind = "performance_tuning"
    tool = "aoe"

    def recognises(self, sample: Sample) -> int:
        return 95 if any(_is_tuning(*item) for item in _blocks(sample.json)) else 0

    def read(self, source: Source) -> Reading:
        tunings = list(_tunings(source.json))
        first, reported = tunings[0], [tuning["succeeded"] for tuning in tunings]
        succeeded = None if None in reported else all(reported)
        values = {"form": "aoe_result", **first, "succeeded": succeeded, "tunings": tunings}
        return self.reading(values, warnings=_warnings(tunings))


def _blocks(found: Any) -> Iterator[tuple[str, Block]]:
    """Named objects of a report, in the order of the file."""
    for document in found if isinstance(found, list) else [found]:
        for name, block in document.items() if isinstance(document, dict) else ():
            if isinstance(block, dict):
                yield str(name), block
            elif isinstance(block, list) and str(name).startswith("report_"):
                yield from _blocks(block)


def _is_tuning(name: str, block: Block) -> bool:
    return BASELINE in block or (name in TUNINGS and _reported(block) is not None)


def _reported(block: Block) -> Any:
    return next((value for key, value in block.items() if key.endswith(RESULT_KEYS)), None)


def _tunings(found: Any) -> Iterator[dict[str, Any]]:
    seconds = None
    for name, block in _blocks(found):
        if _is_tuning(name, block):
            yield {**_tuning(name, block), "seconds": seconds}
        elif name == "basic":
            seconds = to_float(block.get("tuning_time(s)"))


def _tuning(name: str, block: Block) -> dict[str, Any]:
    baseline, result = to_float(block.get(BASELINE)), to_float(block.get(RESULT))
    reported = _reported(block)
    summary = block.get("repo_summary") or {}
    return {
        "tuning": name,
        "baseline_ms": baseline,
        "result_ms": result,
        # a share of the baseline; the tool prints it rounded as model_performance_improvement
        "improvement": (baseline - result) / baseline if baseline and result is not None else None,
        "improvement_printed": block.get("model_performance_improvement"),
        "result": reported,
        "succeeded": "success" in str(reported).lower() if reported is not None else None,
        "operators": summary.get("total_num"),
        "repository": {key: item for key, item in summary.items() if key.endswith("_num")},
        "tuned_operators": list(_operators(block.get("repo_modified_operators")))[:LISTED],
        "failed_operators": list(block.get("tune_failed_operators") or ())[:LISTED],
    }


def _operators(found: Any) -> Iterator[dict[str, Any]]:
    """Operators with times before and after, a row for each way in which one was tuned."""
    groups = found.values() if isinstance(found, dict) else [found]
    for group in groups:
        for operator in group if isinstance(group, list) else ():
            methods = {"": operator, **(operator.get("tune_performance") or {})}
            for way, times in methods.items():
                if BEFORE in times:
                    yield {"name": operator.get("op_name"), "type": operator.get("op_type"),
                           "way": way or None, "before_us": to_float(times[BEFORE]),
                           "after_us": to_float(times.get(AFTER))}  # fmt: skip


def _warnings(tunings: list[dict[str, Any]]) -> list[ReadingWarning]:
    warnings = []
    if failed := [tuning for tuning in tunings if tuning["succeeded"] is not True]:
        message = f"The tuning ended with {failed[0]['result']!r}."
        warnings.append(ReadingWarning("tuning_not_successful", message))
    if names := [name for tuning in tunings for name in tuning["failed_operators"]]:
        message = f"{len(names)} operators could not be tuned, first {names[0]}."
        warnings.append(ReadingWarning("operators_not_tuned", message))
    gains = [tuning["improvement"] for tuning in tunings if tuning["improvement"] is not None]
    if gains and max(gains) <= 0:
        warnings.append(ReadingWarning("no_improvement", "The tuning brought no improvement."))
    return warnings


@register
class AoeLogReader(Reader):
    """stdout of aoe; only a run that came to its end says so."""

    name = "aoe_log"
    version = "2"
    kind = "performance_tuning"
    tool = "aoe"

    def recognises(self, sample: Sample) -> int:
        return 85 if KNOWN.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        lines = [line.strip() for _number, line in source.lines() if line.strip()]
        errors = [line for line in lines if "[ERROR]" in line or "fail" in line.lower()]
        tasks = [found for line in lines if (found := TASK.search(line))]
        ends = [found for line in lines for found in END.finditer(line)]
        finished = any(map(_says_its_end, lines))
        values = {
            "form": "aoe_log",
            "succeeded": finished and not errors if finished or errors else None,
            "errors": errors[:LISTED],
            "tasks": [{"task": found["task"], "result": found["gain"],
                       "improvement_percent": _gain(found["gain"])} for found in tasks][:LISTED],
            "operators_finished": sum(PART.search(line) is not None for line in lines),
            "seconds": next((float(found["seconds"]) for found in ends if found["seconds"]), None),
        }  # fmt: skip
        warnings = []
        if values["succeeded"] is None:
            message = "The log does not say that the tuning ended: it was cut or killed."
            warnings.append(ReadingWarning("run_not_finished", message, len(lines)))
        return self.reading(values, warnings=warnings)


def _gain(text: str) -> float | None:
    """Per cent as printed; the tool does not say of what."""
    found = GAIN.search(text)
    return float(found[1]) if found else None
