"""msprobe dump: ``dump.json``, ``stack.json`` and ``construct.json`` of one rank and step.

Ascend/msprobe 26.x and 8.x. The files may hold bare NaN and Infinity (not strict JSON).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from toolreaders.accuracy.msprobe_tensors import is_nonfinite, tensors_of
from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.source import ReadingWarning

CALL = re.compile(
    r"^(?:Functional|Tensor|Torch|Module|Cell|NPU|Distributed|Aten|VF|Mint\w*|Jit|Primitive)"
    r"\.[\w.\[\]]+\.(?:forward|backward|parameters_grad)(?:\.\d+)?$"
)
INPUTS = ("input_args", "input_kwargs", "input", "parameters")
LISTED = 200


@register
class DumpReader(Reader):
    """``dump.json``: statistics of every call's inputs and outputs in execution order."""

    name = "msprobe_dump"
    kind = "accuracy_dump"
    tool = "msprobe"

    def recognises(self, sample: Sample) -> int:
        found = sample.json
        if not isinstance(found, dict) or not isinstance(found.get("data"), dict):
            return 0
        return 95 if {"task", "level"} <= set(found) else 0

    def read(self, source: Source) -> Reading:
        dump = source.json
        calls = dump["data"]
        tensors = {name: list(tensors_of(call)) for name, call in calls.items()}
        nonfinite = [name for name, found in tensors.items() if any(map(is_nonfinite, found))]
        outputs = [name for name in nonfinite if _only_outputs(calls[name])]
        values = {
            "form": "dump",
            "task": dump["task"],
            "level": dump["level"],
            "framework": dump.get("framework"),
            "entries": len(calls),
            "tensors": sum(map(len, tensors.values())),
            "directions": dict(Counter(_direction(name) for name in calls)),
            "dtypes": dict(Counter(str(t["dtype"]) for found in tensors.values() for t in found)),
            "nonfinite": len(nonfinite),
            "nonfinite_ops": nonfinite[:LISTED],
            "first_nonfinite": nonfinite[0] if nonfinite else None,
            "first_nonfinite_output": outputs[0] if outputs else None,
        }
        warnings = []
        if nonfinite:
            message = f"{len(nonfinite)} calls hold NaN or Inf, first {nonfinite[0]}."
            warnings.append(ReadingWarning("nonfinite_values", message))
        if not calls:
            warnings.append(ReadingWarning("no_rows", "The dump holds no call."))
        return self.reading(values, warnings=warnings)


def _direction(name: str) -> str:
    found = re.search(r"\.(forward|backward|parameters_grad)(?:\.|$)", name)
    return found[1] if found else "other"


def _only_outputs(call: Any) -> bool:
    """True where a non-finite value leaves the call although none came in."""
    if not isinstance(call, dict):
        return False
    given = (tensor for part in INPUTS for tensor in tensors_of(call.get(part)))
    return not any(map(is_nonfinite, given))


@register
class StackReader(Reader):
    """``stack.json``: which lines of the script made which calls; {id: [[calls], [frames]]}."""

    name = "msprobe_stack"
    kind = "accuracy_dump"
    tool = "msprobe"

    def recognises(self, sample: Sample) -> int:
        found = sample.json
        if not isinstance(found, dict) or not found:
            return 0
        key, first = next(iter(found.items()))
        is_pair = isinstance(first, list) and [type(part) for part in first] == [list, list]
        grouped = key.isdigit() and is_pair
        single = bool(CALL.match(key)) and isinstance(first, list)
        return 90 if grouped or single else 0

    def read(self, source: Source) -> Reading:
        found = source.json
        calls = [
            call for key, entry in found.items() for call in (entry[0] if key.isdigit() else [key])
        ]
        values = {"form": "stack", "stacks": len(found), "calls": len(calls)}
        return self.reading(values)


@register
class ConstructReader(Reader):
    """``construct.json``: parent module of every call; empty ``{}`` at level L1."""

    name = "msprobe_construct"
    kind = "accuracy_dump"
    tool = "msprobe"

    def recognises(self, sample: Sample) -> int:
        found = sample.json
        if not isinstance(found, dict):
            return 0
        if not found:
            return 20 if len(sample.data) < 16 else 0
        key, parent = next(iter(found.items()))
        named = parent is None or isinstance(parent, str | list)
        return 85 if CALL.match(key) and named and not isinstance(parent, list) else 0

    def read(self, source: Source) -> Reading:
        found = source.json
        roots = [name for name, parent in found.items() if parent is None]
        warnings = []
        if not found:
            message = "An empty construct.json: level L1 knows no modules."
            warnings.append(ReadingWarning("no_rows", message))
        values = {"form": "construct", "entries": len(found), "roots": len(roots)}
        return self.reading(values, warnings=warnings)
