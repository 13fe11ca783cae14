"""Logs of msfmktransplt: ``pytorch_analysis.txt``, ``msFmkTranspltlog.txt`` and stderr.

The exit status is 0 on syntax errors and everything goes to stderr, so the log decides: without
"run succeeded" (2021: "run success") the run did not come to its end.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.number_parsing import whole_number
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.tables import cells_of

LINE = re.compile(
    r"^(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) \[(?P<level>INFO|WARNING|ERROR|CRITICAL)\]\s+"
    r"(?:\[Progress:\s*(?P<progress>[\d.]+)%\]\s+)?(?P<message>.*)$"
)
SUCCESS = re.compile(r"(?:Analyse|MsFmkTransplt) run succe(?:ss|eded)\b")
OPERATION = re.compile(r"line: \S+ ~ \S+\s+Operation Type: (?P<kind>[A-Z][A-Z ]*?)\s+Message:")
STARTED = re.compile(r"[Ss]tart (?:the )?analysis (?:of )?(?P<file>\S+)\.$")
DONE = re.compile(r"Analysis (?:of )?(?P<file>\S+) completed?\.$")
NOT_PYTHON = re.compile(r"is not a python script, skip")
SKIPPED = re.compile(r"(?P<what>.*?)(?:unsupported python syntax|syntax error)", re.IGNORECASE)
PATH = re.compile(r"[\w./\-]+\.py\b")
OUTPUT = re.compile(r"the relative path is (?P<path>\S+?)\.?$")
STATISTICS_ROW = re.compile(r"^\w+\.csv$")
ANALYSIS = re.compile(r"PyTorch analysis start working now|Analyse run succe(?:ss|eded)\b")
TRANSPLANT = re.compile(r"MsFmkTransplt (?:start working now|run succe(?:ss|eded)\b)")
LISTED = 200


@dataclass
class Run:
    """What the lines of one log say."""

    started: str | None = None
    ended: str | None = None
    progress: float | None = None
    succeeded_line: int | None = None
    levels: Counter[str] = field(default_factory=Counter)
    operations: Counter[str] = field(default_factory=Counter)
    files: list[str] = field(default_factory=list)
    completed: set[str] = field(default_factory=set)
    skipped: list[tuple[int, str]] = field(default_factory=list)
    not_python: int = 0
    errors: list[tuple[int, str]] = field(default_factory=list)
    tracebacks: list[int] = field(default_factory=list)
    statistics: dict[str, int] = field(default_factory=dict)
    output: str | None = None
    last_line: int = 0

    def take(self, number: int, line: str) -> None:
        """Read one line."""
        self.last_line = number
        found = LINE.match(line)
        if found is None:
            self._other(number, line)
            return
        self.started = self.started or found["time"]
        self.ended = found["time"]
        self.levels[found["level"]] += 1
        if found["progress"]:
            self.progress = float(found["progress"])
        self._message(number, found["level"], found["message"].strip())

    def _message(self, number: int, level: str, message: str) -> None:
        if SUCCESS.search(message):
            self.succeeded_line = number
        elif found := OPERATION.match(message):
            self.operations[found["kind"]] += 1
        elif found := STARTED.search(message):
            self.files.append(found["file"])
        elif found := DONE.match(message):
            self.completed.add(found["file"])
        elif NOT_PYTHON.search(message):
            self.not_python += 1
        elif SKIPPED.match(message):
            path = PATH.search(message)
            self.skipped.append((number, path[0] if path else self._current()))
        elif found := OUTPUT.search(message):
            self.output = found["path"]
        if level in ("ERROR", "CRITICAL"):
            self.errors.append((number, message))

    def _current(self) -> str:
        return self.files[-1] if self.files else "?"

    def _other(self, number: int, line: str) -> None:
        if line.startswith("Traceback (most recent call last)"):
            self.tracebacks.append(number)
        cells = cells_of(line)
        if cells and len(cells) == 2 and STATISTICS_ROW.match(cells[0]):
            count = whole_number(cells[1])
            self.statistics |= {} if count is None else {cells[0]: count}


class TransplantLog(Reader):
    """What both logs share; the subclasses say which first and last line is theirs."""

    tool = "msfmktransplt"
    own = ANALYSIS
    confidence = 90

    def recognises(self, sample: Sample) -> int:
        if not self.own.search(sample.text):
            return 0
        return self.confidence if any(map(LINE.match, sample.lines)) else 0

    def read(self, source: Source) -> Reading:
        run = Run()
        for number, line in source.lines():
            run.take(number, line)
        if not run.levels:
            raise ReadError("damaged_file", "The log holds no line of the tool.")
        return self.reading(_values(run), warnings=_warnings(run))


@register
class AnalysisLogReader(TransplantLog):
    """Log of pytorch_analyse.sh."""

    name = "msfmktransplt_analysis_log"
    kind = "migration_analysis"
    own = ANALYSIS


@register
class TransplantLogReader(TransplantLog):
    """Log of pytorch_gpu2npu.sh."""

    name = "msfmktransplt_log"
    kind = "script_transplant"
    own = TRANSPLANT
    confidence = 85  # an analysis may be announced by the migration's start line


def _values(run: Run) -> dict[str, Any]:
    return {
        "form": "log",
        "succeeded": run.succeeded_line is not None,
        "old_format": run.progress is None and not run.statistics,
        "progress_percent": run.progress,
        "started": run.started,
        "ended": run.ended,
        "files": len(set(run.files)),
        "files_completed": len(run.completed),
        "files_not_completed": [name for name in dict.fromkeys(run.files)
                                if name not in run.completed][:LISTED],
        "skipped_files": [name for _line, name in run.skipped][:LISTED],
        "not_python": run.not_python,
        "operations": dict(run.operations),
        "levels": dict(run.levels),
        "errors": [message for _line, message in run.errors][:LISTED],
        "statistics": run.statistics,
        "output": run.output,
        "lines": run.last_line,
    }  # fmt: skip


def _warnings(run: Run) -> list[ReadingWarning]:
    warnings = []
    if run.succeeded_line is None:
        at = f" at {run.progress:g} %" if run.progress is not None else ""
        message = (
            f"The log has no “run succeeded”: the run ended early{at}, its tables are partial."
        )
        warnings.append(ReadingWarning("run_not_finished", message, run.last_line))
    for number, name in run.skipped[:20]:
        message = f"{name} has syntax the tool cannot read and was skipped: it is not analysed."
        warnings.append(ReadingWarning("file_skipped", message, number))
    if run.tracebacks:
        message = "The log holds a Python traceback."
        warnings.append(ReadingWarning("traceback", message, run.tracebacks[0]))
    if run.errors:
        message = f"The log holds {len(run.errors)} errors, first: {run.errors[0][1][:200]}"
        warnings.append(ReadingWarning("errors_logged", message, run.errors[0][0]))
    if run.statistics.get("cuda_op_list.csv"):
        message = "The table's number for cuda_op_list.csv is wrong; count the rows of that file."
        warnings.append(ReadingWarning("cuda_op_count_unreliable", message))
    return warnings
