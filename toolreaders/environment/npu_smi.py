"""``npu-smi info``: the table of chips and processes, and its failures that come as plain text.

Cells are recognised by content, since widths differ from 22.x to 26.x and doc excerpts are
misaligned. A3 has two chips per NPU, the power stands on chip 0 only.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.tables import cells_of

BEFORE = r"^[^|\"'\\\n]{0,120}"  # a container's name or a time stamp; no quote of a program
HEADER = re.compile(rf"{BEFORE}\| *npu-smi\s+(\S+)\s+Version:\s*(\S+)", re.MULTILINE)
TITLE = re.compile(rf"{BEFORE}\|\s*NPU\s+Name\s*\|\s*Health\s*\|\s*Power\(W\)", re.MULTILINE)
"""The first row of column names; what stands above it may be cut off."""
ROWS = re.compile(
    rf"{BEFORE}\| *\d+ +\S+ *\| *(?:OK|Warning|Alarm|Critical|UNKNOWN|Offline) *\|"
    r" *(?:[\d.]+|NA|-) .*\n"
    rf"[^|\n]{{0,120}}\| *\d+(?: +(?:\d+|NA|-))? *\| *[0-9A-Fa-f]{{4}}:[0-9A-Fa-f]{{2}}:",
    re.MULTILINE,
)
"""Both rows of a chip, of a table whose head was cut off with the names of its columns."""
NPU = re.compile(r"^(\d+)\s+(\S.*)$")
CHIP = re.compile(r"^(\d+)(?:\s+(\d+|NA|-))?$")
PAGES = r"(?:\d+|NA)"
POWER = re.compile(rf"^(\S+)\s+(\S+)(?:\s+{PAGES}\s*/\s*{PAGES})?$")
USAGE = re.compile(rf"^(\S+)\s+({PAGES})\s*/\s*(\d+)(?:\s+(\d+)\s*/\s*(\d+))?$")
IDLE = re.compile(r"No running processes found in NPU (\d+)")
FAILURE = re.compile(
    r"dcmi mod(?:ule|el) initializ\w* failed|invalid (?:card|npu|chip|device) id|"
    r"npu-smi: command not found|command not found: npu-smi|npu-smi: not found|"
    r"npu-smi: no such file or directory|npu-smi: permission denied|"
    r"npu-smi: error while loading shared libraries|"
    r"failed to (?:get|query) .*(?:npu|card|chip|device)|"
    r"can not find (?:any )?(?:npu|device)|no (?:npu )?device found|drv\w* (?:not load|init)\w*|"
    r"there is no npu (?:card|chip) on this|this device do(?:es|se) not support querying|"
    r"error parameter of -[a-z]\b|npu-smi ?[:：] ?(?:未找到命令|找不到命令|没有那个文件或目录)",
    re.IGNORECASE,
)
PROSE = re.compile(r"[\u4e00-\u9fff]{4,}")
RET = re.compile(r"ret(?:urn)?(?: value| code)?(?: is|[:=])? *(-\d++)(?![?\ufffd\w])")
GOOD_HEALTH = "OK"
PROCESS_COLUMNS = (4, 5)  # npu-smi 26 adds the process id within the container


@dataclass
class Snapshot:
    """One printed table."""

    smi_version: str | None
    driver_version: str | None
    line: int  # of the table's head
    is_headed: bool = True
    chips: list[dict[str, Any]] = field(default_factory=list)
    processes: list[dict[str, Any]] = field(default_factory=list)
    idle: list[int] = field(default_factory=list)
    elided: int | None = None
    pending: dict[str, Any] | None = None
    cut: int | None = None  # the NPU whose first row is not whole

    def take(self, number: int, line: str) -> None:
        """Read one line of the table."""
        if found := IDLE.search(line):
            self.idle.append(int(found[1]))
        elif line.strip(" >\t") in ("...", "……", "…"):
            self.elided = self.elided or number
        elif cells := cells_of(line[max(line.find("|"), 0) :]):  # “> |”, “[INFO] |”
            self._row(number, cells)

    def _row(self, number: int, cells: list[str]) -> None:
        if len(cells) in PROCESS_COLUMNS and cells[1].isdigit():
            self._process(cells)
        elif len(cells) == 3 and self.pending is None:
            self._first(number, cells)
        elif len(cells) == 3 and (second := _second_row(cells)):
            self.chips.append({**(self.pending or {}), **second})
            self.pending = None
        elif len(cells) == 3:
            self._first(number, cells)

    def _first(self, number: int, cells: list[str]) -> None:
        if found := _first_row(cells):
            self.pending = {**found, "line": number}
        elif (npu := NPU.match(cells[0])) and re.fullmatch(r"[A-Za-z]\w*", cells[1]):
            self.cut = int(npu[1])

    def _process(self, cells: list[str]) -> None:
        chip = CHIP.match(cells[0])
        if chip is None:
            return
        self.processes.append(
            {
                "npu": int(chip[1]),
                "chip": _number(chip[2]) or 0,
                "pid": int(cells[1]),
                "name": cells[2],
                "memory_mb": _number(cells[3]),
            }
        )


def _number(text: str | None) -> float | int | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return int(value) if value.is_integer() and "." not in (text or "") else value


def _first_row(cells: list[str]) -> dict[str, Any] | None:
    npu, power = NPU.match(cells[0]), POWER.match(cells[2])
    if npu is None or power is None or not re.fullmatch(r"[A-Za-z]\w*", cells[1]):
        return None
    return {
        "npu": int(npu[1]),
        "name": npu[2],
        "health": cells[1],
        "power_w": _number(power[1]),
        "temperature_c": _number(power[2]),
    }


def _second_row(cells: list[str]) -> dict[str, Any] | None:
    chip, usage = CHIP.match(cells[0]), USAGE.match(cells[2])
    if chip is None or usage is None:
        return None
    return {
        "chip": int(chip[1]),
        "phy_id": _number(chip[2]),
        "bus_id": None if cells[1] in ("NA", "-") else cells[1],
        "aicore_percent": _number(usage[1]),
        "memory_used_mb": _number(usage[2]),
        "memory_total_mb": _number(usage[3]),
        "hbm_used_mb": _number(usage[4]),
        "hbm_total_mb": _number(usage[5]),
    }


@register
class NpuSmiReader(Reader):
    """``npu-smi info`` (the table)."""

    name = "npu_smi_info"
    kind = "npu_smi"
    version = "6"
    tool = "npu-smi"

    def recognises(self, sample: Sample) -> int:
        return 95 if any(form.search(sample.text) for form in (HEADER, TITLE, ROWS)) else 0

    def read(self, source: Source) -> Reading:
        snapshots = [Snapshot(None, None, 1, is_headed=False)]  # of rows without a head
        for number, line in source.lines():
            if found := HEADER.search(line):
                snapshots.append(Snapshot(found[1], found[2], number))
            elif TITLE.search(line) and (len(snapshots) == 1 or snapshots[-1].chips):
                snapshots.append(Snapshot(None, None, number, is_headed=False))
            else:
                snapshots[-1].take(number, line)
        complete = [snapshot for snapshot in snapshots if snapshot.chips]
        if not complete:
            raise ReadError("damaged_file", "The npu-smi table shows no complete chip.")
        last = complete[-1]
        warnings = _warnings(last)
        if len(complete) > 1:
            message = f"The file holds {len(complete)} tables; the last one counts."
            warnings.append(ReadingWarning("several_snapshots", message))
        return self.reading(_values(last), warnings=warnings, tool_version=last.smi_version)


def _values(snapshot: Snapshot) -> dict[str, Any]:
    chips = snapshot.chips
    health = Counter(chip["health"] for chip in chips)
    with_hbm = [chip for chip in chips if chip["hbm_total_mb"] is not None]
    return {
        "form": "info",
        "smi_version": snapshot.smi_version,
        "driver_version": snapshot.driver_version,
        "chips": chips,
        "chip_count": len(chips),
        "npu_ids": sorted({chip["npu"] for chip in chips}),
        "names": sorted({chip["name"] for chip in chips}),
        "health": dict(health),
        "all_healthy": _all_healthy(snapshot, set(health)),
        "hbm_used_mb": sum(chip["hbm_used_mb"] for chip in with_hbm) if with_hbm else None,
        "hbm_total_mb": sum(chip["hbm_total_mb"] for chip in with_hbm) if with_hbm else None,
        "processes": snapshot.processes,
        "idle_npus": snapshot.idle,
        "lines": {"driver_version": snapshot.line} if snapshot.is_headed else {},
        "error": None,
    }


def _all_healthy(snapshot: Snapshot, states: set[str]) -> bool | None:
    """None when every chip shown is OK but some are not shown."""
    if states != {GOOD_HEALTH}:
        return False
    is_whole = not (snapshot.pending or snapshot.elided) and snapshot.cut is None
    return True if is_whole else None


def _warnings(snapshot: Snapshot) -> list[ReadingWarning]:
    warnings = [
        ReadingWarning(
            "unhealthy_chip",
            f"NPU {chip['npu']} chip {chip['chip']} reports health {chip['health']}.",
            chip["line"],
        )
        for chip in snapshot.chips
        if chip["health"] != GOOD_HEALTH
    ]
    if snapshot.pending is not None:
        message = f"The second row of NPU {snapshot.pending['npu']} is missing."
        warnings.append(ReadingWarning("truncated_record", message))
    if snapshot.cut is not None:
        message = f"The first row of NPU {snapshot.cut} is cut off."
        warnings.append(ReadingWarning("truncated_record", message))
    if snapshot.elided is not None:
        message = f"Rows are left out (“...”): only {len(snapshot.chips)} chips are shown."
        warnings.append(ReadingWarning("rows_elided", message, snapshot.elided))
    if not snapshot.is_headed:
        message = "The head of the table is missing: the driver's version is not known."
        warnings.append(ReadingWarning("version_missing", message, snapshot.line))
    if any(chip["name"] == "910B" for chip in snapshot.chips):
        message = "The name 910B without a digit is the first generation (Ascend 910, 32 GB)."
        warnings.append(ReadingWarning("first_generation_910b", message))
    return warnings


def _is_failure(line: str) -> bool:
    """An answer of npu-smi or of the shell, not a sentence that quotes one."""
    return bool(FAILURE.search(line)) and not PROSE.search(FAILURE.sub("", line))


@register
class NpuSmiFailureReader(Reader):
    """A failure of npu-smi: plain text instead of a table. No chips known is not “all healthy”."""

    name = "npu_smi_failure"
    kind = "npu_smi"
    tool = "npu-smi"

    def recognises(self, sample: Sample) -> int:
        if len(sample.data) > 4096 or HEADER.search(sample.text) or TITLE.search(sample.text):
            return 0
        return 70 if any(map(_is_failure, sample.lines)) else 0

    def read(self, source: Source) -> Reading:
        text = source.text
        number, line = next(
            (number, line) for number, line in source.lines() if _is_failure(line)
        )
        ret = RET.search(text)
        error = {"message": line.strip(), "ret": int(ret[1]) if ret else None}
        values = {
            "form": "failure",
            "chips": [],
            "chip_count": 0,
            "health": {},
            "all_healthy": None,
            "processes": [],
            "error": error,
        }
        message = f"npu-smi failed, no chip is known: {line.strip()}"
        return self.reading(values, warnings=[ReadingWarning("npu_smi_failed", message, number)])
