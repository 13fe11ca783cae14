"""What a kind judges, and what it says of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from toolreaders.base import Reading
from toolreaders.verdicts.devices import device_in

LOG_NAME = "log.txt"
# What the desk itself stores among a job's files: lists of its inputs, its further logs.
INPUTS, FURTHER_LOGS = "desk-inputs/", "desk-logs/"
EMPTY = re.compile(r"^desk: empty (?P<name>.+)$", re.MULTILINE)


@dataclass
class Finished:
    """What a kind judges: how the command ended and what the readers found."""

    exit_status: int | None
    log: str  # its end whole, before that the lines that count: see dispatch.steps
    readings: dict[str, Reading] = field(default_factory=dict)  # file name -> reading
    files: Sequence[str] = ()
    parameters: dict = field(default_factory=dict)
    cards_wanted: int = 0
    is_of_source: bool = False  # a run of the source platform, which has no NPU to show

    def of_kind(self, kind: str, tool: str = "") -> list[Reading]:
        return [reading for reading in self.readings.values()
                if reading.kind == kind and tool in ("", reading.tool)]

    def in_files(self, kind: str) -> list[Reading]:
        """Readings of that kind without the log's."""
        return [reading for name, reading in self.readings.items()
                if reading.kind == kind and name != LOG_NAME]

    def is_empty(self, name: str) -> bool:
        """Whether the command's own end said that the file has no bytes."""
        return name in EMPTY.findall(self.log)

    def of_form(self, form: str) -> list[Reading]:
        return [reading for reading in self.readings.values()
                if reading.values.get("form") == form]

    def report(self, form: str) -> dict:
        """The report of that name from a script of ours; empty where none was written."""
        return next((reading.values for reading in self.of_kind("node_report")
                     if reading.values.get("form") == form), {})


@dataclass(frozen=True)
class Judgement:
    """Whether the job did what it is for, a sentence for people, and its key results.

    `message` is a message id marked with gettext_noop; `values` fill its placeholders.
    """

    is_success: bool
    message: str
    values: dict = field(default_factory=dict)
    results: dict = field(default_factory=dict)


class JudgedKind:
    """What of a kind decides whether a run of it succeeded; the rest of it stands in `base`."""

    expected_statuses: ClassVar[tuple[int, ...]] = (0,)  # with which a run may have succeeded
    judged_files: ClassVar[tuple[str, ...]] = ()  # globs of files that must all be readable
    may_log_errors: ClassVar[bool] = False  # errors in the log are named, and refute nothing
    claims_device: ClassVar[bool] = False  # a success needs proof that an NPU was used

    def conclude(self, finished: Finished) -> Judgement:
        """What follows from log, files and readings, where nothing speaks against them."""
        raise NotImplementedError

    def statuses_for(self, parameters: dict) -> tuple[int, ...]:
        return self.expected_statuses

    def device_claim(self, parameters: dict) -> bool:
        return self.claims_device

    def figures_need_device(self, parameters: dict) -> bool:
        """Whether a figure of its files counts only with proof of an NPU. Not those of a client
        of a service, nor of what compares files: such a job holds no card itself."""
        return self.device_claim(parameters)

    def device_in(self, finished: Finished) -> str:
        """The devices that the job is proven to have used, such as “npu 0, npu 1”; else empty."""
        return device_in(finished.log)


def not_provable(what: str, message: str, values: dict, results: dict) -> Judgement:
    """No success: what was said may be true, and nothing shows it.

    Args:
        what: which proof is missing: `device`, `dump` or `inputs`; verdicts ask for it.
    """
    return Judgement(False, message, values, {**results, "not_provable": what})
