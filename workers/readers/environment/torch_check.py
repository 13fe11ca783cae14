"""Our own check of torch_npu: one line under ``== torch_check ==``.

Also the plain form of the training tutorial, ``2.1.0 True`` (DOMAIN 4.1 env.torch_check).
"""

from __future__ import annotations

import re
from typing import Any

from workers.readers.base import Reader, Reading, Sample, Source, register
from workers.readers.source import ReadError, ReadingWarning

MARKER = "== torch_check =="
FULL = re.compile(
    r"^torch (?P<torch>\S+) torch_npu (?P<torch_npu>\S+) available (?P<available>True|False)\s*$"
)
PLAIN = re.compile(r"^(?P<torch>\d+\.\d+\.\d+\S*) (?P<available>True|False)\s*$")
FAILURE = re.compile(r"^(?P<kind>\w*(?:Error|Exception)): (?P<text>.+)$")


@register
class TorchCheckReader(Reader):
    """Versions of torch and torch_npu and whether an NPU can be used."""

    name = "torch_check"
    kind = "torch_check"
    version = "2"
    tool = "torch_npu"

    def recognises(self, sample: Sample) -> int:
        if MARKER in sample.text:
            return 95
        lines = [line.strip() for line in sample.lines if line.strip()]
        if any(FULL.match(line) for line in lines[-5:]):
            return 80
        return 60 if lines and len(lines) <= 20 and PLAIN.match(lines[-1]) else 0

    def read(self, source: Source) -> Reading:
        answer, failure, line_of_answer = None, None, None
        for number, line in source.lines():
            found = FULL.match(line.strip()) or PLAIN.match(line.strip())
            answer, line_of_answer = (found, number) if found else (answer, line_of_answer)
            if wrong := FAILURE.match(line.strip()):
                failure = (number, wrong[0])
        if answer is None and failure is None:
            raise ReadError("no_values", "The check printed no version.")
        warnings = []
        if failure:
            message = f"The check ended with {failure[1][:300]}"
            warnings.append(ReadingWarning("check_failed", message, failure[0]))
        values = _values(answer)
        values |= {"error": failure[1] if failure else None, "line": line_of_answer}
        return self.reading(values, warnings=warnings, tool_version=values["torch_npu"])


def _values(answer: re.Match[str] | None) -> dict[str, Any]:
    if answer is None:
        return {"torch": None, "torch_npu": None, "available": None}
    found = answer.groupdict()
    return {
        "torch": found["torch"],
        "torch_npu": found.get("torch_npu"),
        "available": found["available"] == "True",
    }
