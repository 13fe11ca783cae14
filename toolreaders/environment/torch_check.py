"""Our own check of torch_npu: one line under ``== torch_check ==``.

Also the plain form of the training tutorial, ``2.1.0 True`` (DOMAIN 4.1 env.torch_check), and the
traceback of an import of torch_npu that failed, as people paste it.
"""

from __future__ import annotations

import re
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.source import ReadError, ReadingWarning

MARKER = "== torch_check =="
FULL = re.compile(
    r"^torch (?P<torch>\S+) torch_npu (?P<torch_npu>\S+) available (?P<available>True|False)\s*$"
)
PLAIN = re.compile(r"^(?P<torch>\d+\.\d+\.\d+\S*) (?P<available>True|False)\s*$")
FAILURE = re.compile(
    r"^(?:\d+\.\d+ +|\[rank\d+\]: ?)?(?P<text>(?P<kind>\w*(?:Error|Exception)): .+)$"
)
"""Behind the seconds of a docker build or the rank of torchrun, if any."""
CAUSES = (
    ("library_missing", re.compile(r"(\S+\.so[\w.]*): cannot open shared object file")),
    ("symbol_missing", re.compile(r"(\S+\.so[\w.]*): undefined symbol")),
    ("library_too_old", re.compile(r"(\S+\.so[\w.]*): version [`'\"]\S+ not found")),
    ("module_missing", re.compile(r"No module named ['\"]([\w.]+)['\"]")),
    ("name_missing", re.compile(r"cannot import name ['\"](\w+)['\"] from")),
    ("backend_not_loaded", re.compile(r"Failed to load the backend extension: (torch_npu)")),
)
"""Why an import fails, and the pattern whose group names what is missing."""
OF_TORCH_NPU = re.compile(
    r"^.*(?:File \".*/torch_npu/\S+\", line \d+|^ *(?:>>> )?import torch_npu\b|"
    r"backend extension: torch_npu|No module named ['\"]torch_npu)", re.MULTILINE)
TRACEBACK = "Traceback (most recent call last)"


@register
class TorchCheckReader(Reader):
    """Versions of torch and torch_npu and whether an NPU can be used."""

    name = "torch_check"
    kind = "torch_check"
    version = "3"
    tool = "torch_npu"

    def recognises(self, sample: Sample) -> int:
        if MARKER in sample.text:
            return 95
        lines = [line.strip() for line in sample.lines if line.strip()]
        if any(FULL.match(line) for line in lines[-5:]):
            return 80
        if lines and len(lines) <= 20 and PLAIN.match(lines[-1]):
            return 60
        return 20 if TRACEBACK in sample.text and _is_failed_import(sample) else 0

    def read(self, source: Source) -> Reading:
        answer, failure, line_of_answer = None, None, None
        for number, line in source.lines():
            found = FULL.match(line.strip()) or PLAIN.match(line.strip())
            answer, line_of_answer = (found, number) if found else (answer, line_of_answer)
            if wrong := FAILURE.match(line.strip()):
                has_cause = failure is not None and _cause(failure[1])["cause"]
                failure = failure if has_cause else (number, wrong["text"])
        if answer is None and failure is None:
            raise ReadError("no_values", "The check printed no version.")
        warnings = []
        if failure:
            message = f"The check ended with {failure[1][:300]}"
            warnings.append(ReadingWarning("check_failed", message, failure[0]))
        error = failure[1] if failure else None
        values = {**_values(answer), "error": error, "line": line_of_answer}
        values |= _cause(error) if error else {}
        return self.reading(values, warnings=warnings, tool_version=values["torch_npu"])


def _is_failed_import(sample: Sample) -> bool:
    """Whether an import of torch_npu, or of what it needs, ended the program."""
    errors = [found["text"] for line in sample.lines if (found := FAILURE.match(line.strip()))]
    has_cause = any(_cause(error)["cause"] for error in errors)
    return has_cause and bool(OF_TORCH_NPU.search(sample.text))


def _cause(error: str | None) -> dict[str, Any]:
    """What kind of import failed and what is missing; None where the message does not tell."""
    for cause, pattern in CAUSES if error else ():
        if found := pattern.search(error):
            return {"cause": cause, "missing": found[1]}
    return {"cause": None, "missing": None}


def _values(answer: re.Match[str] | None) -> dict[str, Any]:
    if answer is None:
        return {"torch": None, "torch_npu": None, "available": None}
    found = answer.groupdict()
    return {
        "torch": found["torch"],
        "torch_npu": found.get("torch_npu"),
        "available": found["available"] == "True",
    }
