"""Device memory: ``torch_npu.npu.memory_summary()``, out-of-memory messages, tables of pairs.

Peak is the second column; the units are binary although printed as KB, MB, GB.
"""

from __future__ import annotations

import re
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.serving.normalised_results import several_results
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.tables import cells_of, csv_table
from toolreaders.training.series import to_float

KIND = "memory"
SIZE = re.compile(r"([\d.]+) ?(B|[KMGT]i?B)\b")
POWERS = {"B": 0, "K": 1, "M": 2, "G": 3, "T": 4}
TITLE = re.compile(r"PyTorch (?:NPU|CUDA) memory summary, device ID (\d+)")
COUNTS = re.compile(r"(?:NPU|CUDA) OOMs: (\d+)\s*\|\s*(?:npu|cuda)Malloc retries: (\d+)")
ROWS = {
    "allocated memory": "allocated",
    "active memory": "active",
    "npu reserved memory": "reserved",
    "gpu reserved memory": "reserved",
    "non-releasable memory": "non_releasable",
}


def size_bytes(text: str) -> int | None:
    """Bytes of a size with a binary unit, None if there is none."""
    found = SIZE.search(text)
    return round(float(found[1]) * 1024 ** POWERS[found[2][0]]) if found else None


@register
class MemorySummaryReader(Reader):
    """``memory_summary`` tables; of several devices every one is listed."""

    name = "memory_summary"
    kind = KIND
    tool = "torch_npu"

    def recognises(self, sample: Sample) -> int:
        return 90 if TITLE.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        devices: list[dict[str, Any]] = []
        for _number, line in source.lines():
            if found := TITLE.search(line):
                devices.append({"device": int(found[1])})
            elif devices and (found := COUNTS.search(line)):
                devices[-1] |= {"ooms": int(found[1]), "retries": int(found[2])}
            elif devices and (cells := cells_of(line)) and len(cells) == 5:
                name = ROWS.get(cells[0].lower())
                if name:
                    devices[-1][name] = {
                        "current_bytes": size_bytes(cells[1]),
                        "peak_bytes": size_bytes(cells[2]),
                    }
        complete = [device for device in devices if "allocated" in device]
        if not complete:
            raise ReadError("damaged_file", "The summary does not reach the allocated memory.")
        values = {
            "peak_allocated_bytes": max(d["allocated"]["peak_bytes"] for d in complete),
            "peak_reserved_bytes": max(
                (d["reserved"]["peak_bytes"] for d in complete if "reserved" in d), default=None
            ),
            "ooms": sum(device.get("ooms", 0) for device in complete),
            "retries": sum(device.get("retries", 0) for device in complete),
            "devices": complete,
        }
        return self.reading(values, warnings=_summary_warnings(values))


def _summary_warnings(values: dict[str, Any]) -> list[ReadingWarning]:
    warnings = []
    if values["ooms"]:
        message = f"The device ran out of memory {values['ooms']} times."
        warnings.append(ReadingWarning("out_of_memory", message))
    if values["retries"]:
        message = f"The allocator freed its cache and tried again {values['retries']} times."
        warnings.append(ReadingWarning("allocation_retries", message))
    return warnings


@register
class MindSporeMemoryReader(Reader):
    """What MindSpore logs at the end of a run, or of a simulated one: memory of the device, what
    of it was free for MindSpore, the peaks without and with fragments."""

    name = "mindspore_memory"
    kind = KIND
    tool = "MindSpore"
    most_confidence = 70
    lines = {
        "capacity_bytes": re.compile(r"Device (?:MOC|HBM) memory size: (\d+)M\b"),
        "reserved_bytes": re.compile(r"MindSpore Used memory size: (\d+)M\b"),
        "peak_allocated_bytes": re.compile(
            r"Used peak memory usage \(without fragments\): (\d+)M\b"),
        "peak_reserved_bytes": re.compile(
            r"Actual peak memory usage \(with fragments\): (\d+)M\b"),
    }

    def recognises(self, sample: Sample) -> int:
        if not self.lines["peak_reserved_bytes"].search(sample.text):
            return 0
        return 11 if LOSS.search(sample.text) else 70

    def read(self, source: Source) -> Reading:
        printed = {name: pattern.findall(source.text) for name, pattern in self.lines.items()}
        values = {name: int(found[-1]) * 2**20 for name, found in printed.items() if found}
        warnings = several_results(len(printed["peak_reserved_bytes"]))
        return self.reading(values, warnings=warnings)


AMOUNT = r"([\d.]+ [KMGT]?i?B)"
OOM = re.compile(r"(NPU|CUDA) out of memory\. Tried to allocate ([\d.]+ [KMGT]?i?B)")
OOM_PARTS = {
    "capacity_bytes": re.compile(rf"total capacity of {AMOUNT}|{AMOUNT} total capacity"),
    "allocated_bytes": re.compile(rf"{AMOUNT} (?:already allocated|is allocated by PyTorch)"),
    "free_bytes": re.compile(rf"{AMOUNT} (?:is )?free"),
    "reserved_bytes": re.compile(rf"{AMOUNT} reserved in total"),
}
FRAMEWORKS = {"NPU": "torch_npu", "CUDA": "PyTorch"}
TF_OOM = re.compile(r"EL0004: Failed to allocate memory|rtMalloc execute failed")
LOSS = re.compile(r"\bloss\b\W{0,12}\d", re.IGNORECASE)
TF_SIZE = re.compile(r"(?:data_size|size):(\d+)")


@register
class OutOfMemoryReader(Reader):
    """The message of torch_npu, PyTorch on a GPU or (EL0004) of CANN when memory is exhausted."""

    name = "out_of_memory"
    kind = KIND
    version = "2"
    tool = "torch_npu"

    def recognises(self, sample: Sample) -> int:
        is_oom = OOM.search(sample.text) or TF_OOM.search(sample.text)
        if not is_oom or sample.json is not None:
            return 0
        return 11 if LOSS.search(sample.text) else 35  # a training log says it besides

    def read(self, source: Source) -> Reading:
        reports = [(number, line, found) for number, line in source.lines()
                   if (found := OOM.search(line))]  # fmt: skip
        if reports:
            number, line, found = reports[0]
            values: dict[str, Any] = {"ooms": len(reports), "requested_bytes": size_bytes(found[2])}
            for name, pattern in OOM_PARTS.items():
                part = pattern.search(line)
                sizes = [size for size in part.groups() if size] if part else []
                values[name] = size_bytes(sizes[0]) if sizes else None
            return self._reading(values, number, FRAMEWORKS[found[1]])
        size = TF_SIZE.search(source.text)
        line = next(n for n, text in source.lines() if TF_OOM.search(text))
        values = {"ooms": 1, "requested_bytes": int(size[1]) if size else None}
        return self._reading(values, line)

    def _reading(self, values: dict[str, Any], line: int, tool: str = "CANN") -> Reading:
        warnings = [ReadingWarning("out_of_memory", "The device ran out of memory.", line)]
        return self.reading(values, warnings=warnings, tool=tool)


@register
class MemoryPairsReader(Reader):
    """CSV of baseline and optimised memory: reductions are recomputed, never taken over."""

    name = "memory_pairs"
    kind = KIND

    def recognises(self, sample: Sample) -> int:
        first = sample.first_line.lower()
        return 80 if "baseline_mb" in first and "optimised_mb" in first else 0

    def read(self, source: Source) -> Reading:
        table = csv_table(source)
        names = [name.lower() for name in table.header]
        pairs, warnings = [], []
        for number, cells in zip(table.lines, table.rows, strict=True):
            row = dict(zip(names, cells, strict=False))
            base, ours = to_float(row.get("baseline_mb")), to_float(row.get("optimised_mb"))
            if not base or ours is None:
                raise ReadError("damaged_file", f"Row {number} has no two amounts.")
            reduction = (base - ours) / base
            pairs.append({**row, "baseline_mb": base, "optimised_mb": ours, "reduction": reduction})
            if reduction < 0:
                message = f"Row {number} is an increase of {-reduction:.1%}, not a reduction."
                warnings.append(ReadingWarning("memory_increase", message, number))
        return self.reading({"pairs": pairs}, warnings=warnings)
