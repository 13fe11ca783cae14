"""What stopped a run, as its log says it: memory, a missing library or module, codes of CANN, a
rank that waited in vain, a fault of the card; and the cause that these lines show.

torch_npu prints ``ERRxxxxx``. ``E3xxxx`` and ``EE``, ``EH``, ``EI``, ``EJ``, ``EK``, ``EL`` codes
are of the run time (AI CPU, run time, ACL, HCCL, HCCP, profiling, driver), as is ``EZxxxx`` beside
what only a card reports; ATC reports others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.causes.cann_codes import ON_A_CARD, code_of_text, code_rows
from toolreaders.causes.log_parts import Part
from toolreaders.causes.search import LogSearch
from toolreaders.masking import mask_text
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.training.like_lines import SAME_DIGITS, kinds_in

KINDS = {
    "out_of_memory": rb"(?:NPU|CUDA|HIP) out of memory\b|\bEL0004\b[: ]"
    rb"|CUDA error: out of memory|CUDA_ERROR_OUT_OF_MEMORY",
    "import_failed": rb"(?:^\s*|[\]:|] *|\bERROR[ :\-]+)(?:ModuleNotFoundError|ImportError): (?=\S)"
    rb"|cannot open shared object file|\bundefined symbol: ",
    "runtime_error_code": rb"\w\(E[1-9A-Z]\d{4}\): |(?:^\s*|[\]):|\d] *|Msg: )"
    rb"(?:E[1-9A-Z]\d{4}(?:\[PID: ?\d+\]|(?=: | {2}|:?\s*$))|ERR\d{5}(?= ))"
    rb"|(?:error code(?: is|[:=])|\bret(?:Code)?=|\b(?:rt[A-Z]|acl)\w*[^\s\"]* failed:"
    rb"|runtime result =)\s*[125]\d7\d{3}\b|\[Error\]: \S",
    "port_in_use": rb"\bfail\b.*\bus(?:ed|ing) by other process"
    rb"|\b(?:have|has) been bound already\b",
    "rank_waited": rb"Watchdog caught collective operation timeout|Timeout at NCCL work"
    rb"|\bstore->get\(.*\) got error: |\bwait timeout after \d+ ?ms, keys:"
    rb"|\bncclRemoteError\b|\bwait socket establish timeout\b"
    rb"|\bTimed out waiting \d+ ?ms for (?:recv|send)\b",
    "card_fault": rb"\bXid \(PCI:|an illegal memory access was encountered"
    rb"|device-side assert triggered",
    "environment_incomplete": rb"\bASCEND_OPP_PATH\b.{0,40}\bnot set\b",
    "cancelled": rb"^slurmstepd: error: \*{3} .*\bCANCELLED AT ",
    "traceback": rb"\bTraceback \(most recent call last\)",
}
ANY = re.compile(
    b"|".join(b"(?P<%b>%b)" % (name.encode(), form) for name, form in KINDS.items()), re.MULTILINE
)
MARKS = (b"Traceback (most", b"out of memory", b"runtime result", b"Xid (", b"OPP_PATH", b"imeout",
         b"ERROR", b"rror")  # fmt: skip
"""One of them, or a code, stands in each such line; few, for each is searched in the whole file."""
CODES = re.compile(rb"E(?:[A-Z1-9]\d{4}|RR\d{5})(?!\d)")
CODE = re.compile(r"\b(?:E[1-9A-Z]\d{4}|ERR\d{5})(?!\w)|(?<![\w.])[125]\d7\d{3}(?!\w)")
WORDED = re.compile(r"\[Error\]: *(?P<text>\S.*)$")
DEVICE = re.compile(r"torch_npu|mindspore|\blib(?:hccl|ascend|runtime|ge_|acl|op|te_)\w*\.so")
STARTS = re.compile(
    r"\s*(?:\[PID: *\d+\][\s\d:.\-]*)?(?:\w+\()?E(?:[EHIJKL]\d{4}|3\d{4})(?=[:\s)])")
OF_THE_DEVICE = {"out_of_memory", "port_in_use", "rank_waited", "card_fault",
                 "environment_incomplete"}  # fmt: skip
MESSAGES = {
    "out_of_memory": "The device ran out of memory",
    "import_failed": "A library or a Python module could not be loaded",
    "runtime_error_code": "CANN's run time reported an error",
    "port_in_use": "A port that the run needs is in use",
    "rank_waited": "A rank waited in vain for another one",
    "card_fault": "A card reported a fault",
    "environment_incomplete": "The environment of CANN is not set",
    "cancelled": "The scheduler ended the run",
    "traceback": "A program stopped with a Python traceback",
}
OVERFLOW = re.compile(rb"OVERFLOW! Rank 0 Skipping step\. Attempted loss scale: (\d+)")
LISTED, LONGEST, MOST_PARTS = 20, 300, 6
MOST_LOOKED_AT = 200  # of a chunk of 1 MiB


@dataclass(frozen=True)
class Failure:
    """A line that tells why a run stopped; ``kind`` is a key of ``MESSAGES``."""

    kind: str
    line: int
    text: str

    @property
    def code(self) -> str | None:
        """The error code of CANN that the line prints, or whose words it prints."""
        if self.kind not in ("runtime_error_code", "out_of_memory"):
            return None
        if worded := WORDED.search(self.text):
            return code_of_text(worded["text"]) or None
        found = CODE.search(self.text)
        return found[0] if found else None

    @property
    def is_of_the_device(self) -> bool:
        """Whether the line alone shows that a program for a card failed."""
        if self.kind == "runtime_error_code":
            code = self.code or ""
            return bool(code) and (code.startswith("ERR") or code.isdigit()
                                   or STARTS.match(code + ":") is not None
                                   or ON_A_CARD.search(self.text) is not None)
        return self.kind in OF_THE_DEVICE or (
            self.kind == "import_failed" and DEVICE.search(self.text) is not None
        )

    def as_value(self) -> dict[str, Any]:
        """The failure as a value of a reading."""
        return {"kind": self.kind, "code": self.code, "text": self.text, "line": self.line}


@dataclass(frozen=True)
class Failures:
    """The lines that tell why a run stopped, and the parts of the log in which they stand."""

    lines: list[Failure]
    parts: list[Part]
    scales: list[bytes] = field(default_factory=list)
    """Loss scales of the updates that DeepSpeed skipped, in their order."""

    def skipped(self) -> ReadingWarning | None:
        """What DeepSpeed says between the records of other tools."""
        if not self.scales:
            return None
        updates = "1 update" if len(self.scales) == 1 else f"{len(self.scales)} updates"
        message = f"DeepSpeed skipped {updates}: their gradients overflowed"
        if self.scales[0] != self.scales[-1]:
            first, last = self.scales[0].decode(), self.scales[-1].decode()
            message += f"; the loss scale fell from {first} to {last}"
        return ReadingWarning("skipped_iterations", f"{message}.")

    def cause(self) -> dict[str, Any] | None:
        """The cause as a value of a reading; None where no known one is shown."""
        found = LogSearch(self.parts).cause()
        if found is None:
            return None
        stored = found.as_json()
        stored["quote"] = mask_text(stored["quote"])
        return stored | {"sentence": found.cause.headline % found.values}


def failures_in(source: Source) -> Failures:
    """The first lines of each kind that tell why a run stopped, at most 20 of a kind."""
    found: dict[str, list[Failure]] = {kind: [] for kind in KINDS}
    parts: list[Part] = []
    scales: list[bytes] = []
    number = 1
    for chunk in source.chunks():
        known = len(parts)
        for failure in _in_chunk(chunk, number):
            if len(found[failure.kind]) < LISTED:
                found[failure.kind].append(failure)
            if len(parts) == known:
                parts.append(Part(chunk.decode("utf-8", "replace"), number))
        if len(parts) > MOST_PARTS:  # the first and the last of them
            del parts[MOST_PARTS // 2]
        if b"OVERFLOW! Rank" in chunk:
            scales += OVERFLOW.findall(chunk)
        number += chunk.count(b"\n")
    lines = sorted((one for kind in found.values() for one in kind), key=lambda one: one.line)
    return Failures(lines, parts, scales)


def _in_chunk(chunk: bytes, number: int) -> Iterator[Failure]:
    at, line = 0, number
    for start in sorted(_marked_lines(chunk)):
        line, at = line + chunk.count(b"\n", at, start), start
        end = chunk.find(b"\n", start)
        text = chunk[start : end if end >= 0 else len(chunk)][:LONGEST]
        if match := ANY.search(text):
            failure = Failure(match.lastgroup or "", line,
                              mask_text(text.decode("utf-8", "replace").strip()))
            if failure.kind != "runtime_error_code" or _is_known(failure.code):
                yield failure


def _is_known(code: str | None) -> bool:
    """Whether it is a code of CANN: other programs print such words and numbers too."""
    return bool(code) and (code in code_rows() or not re.match(r"E[124-9]|\d", code))


def _may_tell(chunk: bytes) -> bool:
    """Whether any of its lines may tell of a failure: what stands in none of its kinds of lines
    stands in none of them."""
    kinds = kinds_in(chunk)
    return CODES.search(kinds) is not None or any(
        mark.translate(SAME_DIGITS) in kinds for mark in MARKS)


def _marked_lines(chunk: bytes) -> set[int]:
    """Where the lines begin that may tell of a failure, the first of each mark."""
    if not _may_tell(chunk):
        return set()
    places = [match.start() for match in islice(CODES.finditer(chunk), MOST_LOOKED_AT)]
    for mark in MARKS:
        at, left = chunk.find(mark), MOST_LOOKED_AT
        while at >= 0 and left:
            places.append(at)
            at, left = chunk.find(mark, at + 1), left - 1
    return {chunk.rfind(b"\n", 0, place) + 1 for place in places}


def warnings_of(failures: Iterable[Failure]) -> list[ReadingWarning]:
    """A warning for the first failure of each kind."""
    first = {failure.kind: failure for failure in reversed([*failures])}
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
        failures = [*_in_chunk(sample.text.encode("utf-8", "replace"), 1)]
        has_code = any(failure.kind == "runtime_error_code" for failure in failures)
        is_of_a_card = any(failure.is_of_the_device for failure in failures) or (
            has_code and ON_A_CARD.search(sample.text) is not None)
        return 8 if is_of_a_card else 0

    def read(self, source: Source) -> Reading:
        found = failures_in(source)
        failures = found.lines
        if not failures:
            raise ReadError("damaged_file", "The log tells of no failure.")
        codes = [failure.code for failure in failures if failure.code]
        values = {
            "form": "run",
            "succeeded": False,
            "codes": list(dict.fromkeys(codes)),
            "failures": [failure.as_value() for failure in failures],
            "cause": found.cause(),
        }
        return self.reading(values, warnings=warnings_of(failures))
