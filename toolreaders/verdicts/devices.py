"""Whether a run used an NPU, as its own log tells: a run on the CPU is no verdict on the NPU. Pure.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from toolreaders.base import ReadError, open_source
from toolreaders.training.like_lines import kinds_in
from toolreaders.verdicts.verdict import NOT_PROVABLE, Outcome

NO_NPU = "no_npu_used"
LONGEST_QUOTE = 160
# As `workers/kinds/scripts/device_use.py` prints it: of the processes of this very job.
USED = re.compile(r"^desk: device (?P<kind>npu|gpu) (?P<index>\d+): ", re.MULTILINE)
NAMED = re.compile(
    r"(?P<device>\bnpu:\d+\b)"
    r"|\b(?:device|using|running on)\b.{0,40}?(?P<chip>\bAscend ?(?:910|310)\w*)", re.IGNORECASE)
DENIED = re.compile(
    r"\b(?:not?|without|unavailable|unsupported|fall(?:s|ing)?[ -]?back|fail\w*|cannot|can't"
    r"|invalid|\w*error\w*|cpu)\b|false|Namespace\(|--[a-z]", re.IGNORECASE)  # options are wishes
# The watch's own words (`workers/kinds/scripts/device_use.py`), and those of training frameworks.
OTHER_DEVICE = re.compile(
    r"^desk: no device: |^desk: device gpu \d+: |\bds_accelerator to cpu\b"
    r"|\bdevice set to use cpu\b|\busing cpu device(?!\w)|设备 ?[:：] ?cpu\b(?![\w/-])"
    r"|(?<![\w\"'.-])device(?:[ _](?:type|target))?(?: is)?(?: *[:=] *| +)[\"']?cpu\b(?![\w/-])",
    re.IGNORECASE)
MARKS = (b"cpu", b"npu", b"ascend", b"desk: ")
IS_LIKELY = re.compile(r"cpu|npu|ascend|desk: ", re.IGNORECASE)
# A part of an NPU run that is kept on the CPU says nothing of the run, nor does a comment in what
# the run prints of its configuration.
OF_A_PART = re.compile(r"^\s*#|offload|load|checkpoint|generator|tokenizer", re.IGNORECASE)


@dataclass(frozen=True)
class NoNpu:
    """Where a log says that its run used no NPU; no line where the job's own record says so."""

    line: int | None = None
    quote: str = ""


def device_in(log: str) -> str:
    """NPUs that the job's own processes used, else the one a line of the log names; or empty."""
    used = sorted({int(hit["index"]) for hit in USED.finditer(log) if hit["kind"] == "npu"})
    if used:
        return ", ".join(f"npu {index}" for index in used)
    return next((hit["device"] or hit["chip"] for line in log.splitlines()
                 if (hit := NAMED.search(line)) and not DENIED.search(line)), "")


def _likely_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that may name a device, with their numbers."""
    source, number = open_source(path), 1
    for chunk in source.chunks():
        kinds = kinds_in(chunk).lower()
        if any(mark in kinds for mark in MARKS):
            yield from (line for line in source.lines_of(chunk, number)
                        if IS_LIKELY.search(line[1]))
        number += chunk.count(b"\n")


def no_npu_in(path: Path) -> NoNpu | None:
    """The first line of a file that says so; None where there is none, or where one names an
    NPU."""
    try:
        found = None
        for number, text in _likely_lines(path):
            if device_in(text):
                return None
            if found is None and OTHER_DEVICE.search(text) and not OF_A_PART.search(text):
                found = NoNpu(number, text.strip()[:LONGEST_QUOTE])
    except ReadError:
        return None  # who judges the file says so
    return found


def names_npu(path: Path) -> bool:
    """Whether a line of the file names an NPU that its run used."""
    try:
        return any(device_in(text) for _number, text in _likely_lines(path))
    except ReadError:
        return False  # who judges the file says so


def not_proven(outcome: Outcome, found: NoNpu | None) -> Outcome:
    """The outcome of a run that used no NPU proves nothing, whatever it is."""
    if found is None:
        return outcome
    facts = {**outcome.facts, "no_npu_line": found.line, "no_npu_quote": found.quote}
    return replace(outcome, outcome=NOT_PROVABLE, reason=NO_NPU, facts=facts)
