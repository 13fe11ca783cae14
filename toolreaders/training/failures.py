"""What stopped a run, as its log says it: memory, a missing library or module, error codes of CANN.

torch_npu prints ``ERRxxxxx``. ``E3xxxx`` and ``EE``, ``EH``, ``EI``, ``EJ``, ``EK``, ``EL`` codes
are of the run time (AI CPU, run time, ACL, HCCL, HCCP, profiling, driver); ATC reports others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.masking import mask_text
from toolreaders.source import ReadError, ReadingWarning

KINDS = {
    "out_of_memory": rb"(?:NPU|CUDA|HIP) out of memory\. Tried to allocate|\bEL0004\b[: ]"
    rb"|CUDA error: out of memory|CUDA_ERROR_OUT_OF_MEMORY",
    "import_failed": rb"(?:^\s*|[\]:|] *|\bERROR[ :\-]+)(?:ModuleNotFoundError|ImportError): (?=\S)"
    rb"|cannot open shared object file|\bundefined symbol: ",
    "runtime_error_code": rb"(?:^\s*|[\]):|\d] *)"
    rb"(?:E(?:[EHIJKL]\d{4}|3\d{4})(?=: | {2}|:?\s*$)|ERR\d{5}(?= ))",
    "traceback": rb"\bTraceback \(most recent call last\)",
}
ANY = re.compile(
    b"|".join(b"(?P<%b>%b)" % (name.encode(), form) for name, form in KINDS.items()), re.MULTILINE
)
MARKS = (b"out of memory", b"OUT_OF_MEMORY", b"Error: ", b"shared object file",
         b"undefined symbol", b"Traceback (most", b"EL0004")  # fmt: skip
CODES = re.compile(rb"E[EHIJKLR3][R\d]\d{3}")
CODE = re.compile(r"\b(?:E(?:[EHIJKL]\d{4}|3\d{4})|ERR\d{5})\b")
DEVICE = re.compile(r"torch_npu|mindspore|\blib(?:hccl|ascend|runtime|ge_|acl|op|te_)\w*\.so")
STARTS = re.compile(r"\s*(?:\[PID: *\d+\][\s\d:.\-]*)?E(?:[EHIJKL]\d{4}|3\d{4})(?=[:\s])")
MESSAGES = {
    "out_of_memory": "The device ran out of memory",
    "import_failed": "A library or a Python module could not be loaded",
    "runtime_error_code": "CANN's run time reported an error",
    "traceback": "A program stopped with a Python traceback",
}
LISTED, LONGEST = 20, 300
MOST_LOOKED_AT = 200  # of a chunk of 1 MiB


@dataclass(frozen=True)
class Failure:
    """A line that tells why a run stopped; ``kind`` is a key of ``MESSAGES``."""

    kind: str
    line: int
    text: str

    @property
    def code(self) -> str | None:
        """The error code of CANN."""
        found = CODE.search(self.text)
        return found[0] if found and self.kind in ("runtime_error_code", "out_of_memory") else None

    @property
    def is_of_the_device(self) -> bool:
        """Whether the line alone shows that a program for the NPU failed."""
        return self.kind == "runtime_error_code" or (
            self.kind == "import_failed" and DEVICE.search(self.text) is not None
        )

    def as_value(self) -> dict[str, Any]:
        """The failure as a value of a reading."""
        return {"kind": self.kind, "code": self.code, "text": self.text, "line": self.line}


def failures_in(source: Source) -> list[Failure]:
    """The first lines of each kind that tell why a run stopped, at most 20 of a kind."""
    found: dict[str, list[Failure]] = {kind: [] for kind in KINDS}
    number = 1
    for chunk in source.chunks():
        for failure in _in_chunk(chunk, number):
            if len(found[failure.kind]) < LISTED:
                found[failure.kind].append(failure)
        number += chunk.count(b"\n")
    return sorted((one for kind in found.values() for one in kind), key=lambda one: one.line)


def _in_chunk(chunk: bytes, number: int) -> Iterator[Failure]:
    at, line = 0, number
    for start in sorted(_marked_lines(chunk)):
        line, at = line + chunk.count(b"\n", at, start), start
        end = chunk.find(b"\n", start)
        text = chunk[start : end if end >= 0 else len(chunk)][:LONGEST]
        if match := ANY.search(text):
            shown = mask_text(text.decode("utf-8", "replace").strip())
            yield Failure(match.lastgroup or "", line, shown)


def _marked_lines(chunk: bytes) -> set[int]:
    """Where the lines begin that may tell of a failure, the first of each mark."""
    places = [match.start() for match in islice(CODES.finditer(chunk), MOST_LOOKED_AT)]
    for mark in MARKS:
        at = chunk.find(mark)
        while at >= 0 and len(places) < MOST_LOOKED_AT * len(MARKS):
            places.append(at)
            at = chunk.find(mark, at + 1)
    return {chunk.rfind(b"\n", 0, place) + 1 for place in places}


def warnings_of(failures: list[Failure]) -> list[ReadingWarning]:
    """A warning for the first failure of each kind."""
    first = {failure.kind: failure for failure in reversed(failures)}
    return [
        ReadingWarning(kind, f"{MESSAGES[kind]}: “{first[kind].text}”.", first[kind].line)
        for kind in MESSAGES
        if kind in first
    ]


@register
class RunFailureReader(Reader):
    """The log of a run that failed before it printed anything else that is known."""

    name = "run_failure"
    kind = "tool_log"
    most_confidence = 61

    def recognises(self, sample: Sample) -> int:
        if sample.is_binary or sample.json is not None:
            return 0
        if STARTS.match(sample.text):
            return 61
        failures = _in_chunk(sample.text.encode("utf-8", "replace"), 1)
        return 8 if any(failure.is_of_the_device for failure in failures) else 0

    def read(self, source: Source) -> Reading:
        failures = failures_in(source)
        if not failures:
            raise ReadError("damaged_file", "The log tells of no failure.")
        codes = [failure.code for failure in failures if failure.code]
        values = {
            "form": "run",
            "succeeded": False,
            "codes": list(dict.fromkeys(codes)),
            "failures": [failure.as_value() for failure in failures],
        }
        return self.reading(values, warnings=warnings_of(failures))
