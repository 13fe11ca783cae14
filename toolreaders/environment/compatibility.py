"""Published compatibility tables (CSV, markdown) and MindFormers' ``VERSION_MAP.json``."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.environment.versions import base_version
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.tables import Table, csv_table, framed_tables

COMPONENT = re.compile(
    r"torch[_ -]?npu|pytorch|cann|mindspeed|megatron|mindspore|mindformers|"
    r"python|driver|firmware|hdk|vllm|triton|tensorflow|驱动|固件",
    re.IGNORECASE,
)
VERSIONISH = re.compile(r"\d+\.\d+|在研|master", re.IGNORECASE)
LONGEST_NAME = 60  # of a column; longer text before a comma is a command or a sentence
VERSION = re.compile(r"\d+(?:\.\w+)+")


def _is_compatibility(table: Table) -> bool:
    """Headers name components and most cells under them are versions."""
    named = [i for i, cell in enumerate(table.header) if _names_component(cell)]
    if not named or len(table.header) < 2 or not table.rows:
        return False
    status = any(re.search(r"status|状态|eol", cell, re.IGNORECASE) for cell in table.header)
    if len(named) < 2 and not status:
        return False
    cells = [row[i] for row in table.rows[:50] for i in named if i < len(row) and row[i]]
    good = sum(bool(VERSIONISH.search(cell)) and len(cell) < 80 for cell in cells)
    return bool(cells) and good >= 0.6 * len(cells)


def _names_component(cell: str) -> bool:
    return len(cell) < LONGEST_NAME and "./" not in cell and bool(COMPONENT.search(cell))


def _tables(source: Source) -> list[Table]:
    if any("|" in line for _number, line in source.lines()):
        found = [table for table in framed_tables(source.lines()) if _is_compatibility(table)]
        if found:
            return found
    table = csv_table(source)
    return [table] if _is_compatibility(table) else []


@register
class CompatibilityTableReader(Reader):
    """Tables whose columns are components and whose cells are versions."""

    name = "compatibility_table"
    in_documents = True
    version = "2"
    kind = "compatibility_table"

    def recognises(self, sample: Sample) -> int:
        if sample.is_binary or len(sample.data) > 200_000:
            return 0
        head = sample.first_line
        if not COMPONENT.search(sample.text[:4000]) or head.lstrip()[:1] in "{[":
            return 0
        if "|" not in sample.text and "," not in head and "\t" not in head:
            return 0
        return 65 if _tables(sample.source) else 0

    def read(self, source: Source) -> Reading:
        tables = _tables(source)
        if not tables:
            raise ReadError("damaged_file", "The table names no versions.")
        rows = [
            dict(zip(table.header, row, strict=False)) for table in tables for row in table.rows
        ]
        status = next((name for name in tables[0].header if _is_status(name)), None)
        values = {
            "columns": tables[0].header,
            "rows": rows,
            "row_count": len(rows),
            "by_status": dict(Counter(row.get(status, "") for row in rows)) if status else None,
        }
        warnings = [warning for table in tables for warning in _typos(table)]
        return self.reading(values, warnings=warnings)


def _is_status(name: str) -> bool:
    return name.lower() in ("status", "current status", "当前状态", "状态")


def _typos(table: Table) -> list[ReadingWarning]:
    """torch_npu X.Y.Z.postN beside a PyTorch that is not X.Y.Z."""
    npu = next((i for i, c in enumerate(table.header) if re.search("torch.?npu", c, re.I)), None)
    torch = next((i for i, c in enumerate(table.header) if c.lower().startswith("pytorch")), None)
    if npu is None or torch is None:
        return []
    found = []
    for number, row in zip(table.lines, table.rows, strict=True):
        ours, theirs = VERSION.search(row[npu]), VERSION.search(row[torch])
        if ours and theirs and ".post" in ours[0] and base_version(ours[0]) != theirs[0]:
            message = f"torch_npu {ours[0]} is paired with PyTorch {theirs[0]}; one is mistyped."
            found.append(ReadingWarning("unlikely_pair", message, number))
    return found


@register
class VersionMapReader(Reader):
    """``VERSION_MAP.json`` of MindFormers: component → version → preferred version of the next."""

    name = "mindformers_version_map"
    kind = "compatibility_table"
    tool = "MindFormers"

    def recognises(self, sample: Sample) -> int:
        if '"prefer"' not in sample.text:
            return 0
        return 90 if isinstance(sample.json, dict) else 0

    def read(self, source: Source) -> Reading:
        chain: dict[str, Any] = source.json
        names = list(chain)
        follows = dict(zip(names, [*names[1:], "driver"], strict=True))
        rows = [
            {name: version, follows[name]: pair["prefer"], "support": pair.get("support", [])}
            for name in names
            for version, pair in chain[name].items()
        ]
        return self.reading({"columns": [*names, "driver"], "rows": rows, "row_count": len(rows)})
