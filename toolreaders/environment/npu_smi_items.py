"""The other forms of npu-smi: ``-t board|usages|health|ecc|…`` and ``-l`` (``key : value``),
``-m`` (chip mapping), ``-t topo`` (link matrix) and ``info watch`` (a row per chip and second)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.source import ReadError, ReadingWarning

PLAIN = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d+)?")
PROCESS = re.compile(
    r"^\s*Process id\s*: ?(\d+)\s+Process name\s*: ?(.*?)\s+Process memory\(MB\)\s*: ?(\d+)"
)
CONTINUED = "Error Information"
COMMAND = re.compile(r"npu-smi info\b.*")
ITEM = re.compile(r"^\s*([A-Za-z][\w /()%.&-]*?)\s*: ?(.*)$")
KNOWN = re.compile(
    r"^\s*(?:NPU ID|Chip ID|Chip Count|Health(?: Status)?|(?:Total|Card) Count) *: ", re.MULTILINE
)
OWN = re.compile(
    r"^\s*(?:Aicore Usage Rate\(%\)|NPU Real-time Power\(W\)|NPU Temperature \(C\)|"
    r"(?:HBM|DDR) (?:Capacity\(MB\)|Single Bit Error Count)) *: ",
    re.MULTILINE,
)
"""Keys that no other tool prints."""
MAPPING = re.compile(
    r"^\s*NPU ID\s{2,}(?:Chip ID\s{2,}(?:Chip )?Logic ID|Slot ID\s{2,}Chip ID)", re.MULTILINE
)
DEVICE = r"(?:NPU|Phy-ID)\d+"
TOPOLOGY = re.compile(rf"^\s+{DEVICE}\s+{DEVICE}\b", re.MULTILINE)
HEALTH = ("Health Status", "Health")
"""npu-smi 26 writes the latter."""
FORMS = (
    *(("health", key) for key in HEALTH),
    ("common", "Aicore Freq(MHZ)"),
    ("common", "Rated Power Dissipation(W)"),
    ("usages", "Aicore Usage Rate(%)"),
    ("ecc", "HBM Single Bit Error Count"),
    ("ecc", "DDR Single Bit Error Count"),
    ("ecc", "Single-bit Error Count"),
    ("list", "Total Count"),
    ("list", "Card Count"),
    ("memory", "HBM Clock Speed(MHz)"),
    ("memory", "DDR Clock Speed(MHz)"),
    ("memory", "Clock Speed(MHz)"),
    ("temp", "NPU Temperature (C)"),
    ("temp", "Temperature (C)"),
    ("power", "NPU Real-time Power(W)"),
    ("power", "Power Dissipation(W)"),
    ("pcie-err", "TX Error Count"),
    ("pcie-err", "Pcs Rx Error Count"),
    ("proc-mem", "Processes"),
    ("board", "Firmware Version"),
    ("board", "Software Version"),
)
CHIP = {"NPU ID", "Chip ID"}
CONTROLLER = re.compile(r"\s*Chip Name\s*: ?mcu\s*$", re.IGNORECASE)
Items = dict[str, Any]


def _value(text: str) -> Any:
    """A number where it is printed as one; codes (80E01801) and serial numbers (021…) are text."""
    if PLAIN.fullmatch(text):
        return float(text) if "." in text else int(text)
    return None if text in ("NA", "N/A", "-", "") else text


def blocks_of(lines: Iterable[tuple[int, str]]) -> list[Items]:
    """Groups of ``key : value``; a key that comes again starts the next chip, as does ``mcu``."""
    blocks: list[Items] = [{}]
    last = None
    for _number, line in lines:
        if COMMAND.search(line):
            continue
        if found := PROCESS.match(line):
            process = {"pid": int(found[1]), "name": found[2], "memory_mb": int(found[3])}
            blocks[-1].setdefault("Processes", []).append(process)
            continue
        found = ITEM.match(line)
        if found is None:
            if last == CONTINUED and line.strip() and blocks[-1].get(last) is not None:
                blocks[-1][last] = f"{blocks[-1][last]} {line.strip()}"
            continue
        last = found[1].strip()
        if last in blocks[-1] or (CONTROLLER.match(line) and not blocks[-1].keys() <= CHIP):
            blocks.append({})
        blocks[-1][last] = _value(found[2].strip())
    return [block for block in blocks if block]


def _is_listing(text: str) -> bool:
    """Whether items make up at least half of the lines: a program quotes a few."""
    lines = [line for line in text.splitlines() if line.strip()]
    items = sum(bool(ITEM.match(line) or COMMAND.search(line)) for line in lines)
    return 2 * items >= len(lines)


@register
class NpuSmiItemsReader(Reader):
    """``npu-smi info -t …`` and ``-l``."""

    name = "npu_smi_items"
    kind = "npu_smi"
    version = "3"
    tool = "npu-smi"

    def recognises(self, sample: Sample) -> int:
        if MAPPING.search(sample.text) or TOPOLOGY.search(sample.text):
            return 0
        found = len(KNOWN.findall(sample.text[:8192]))
        if not _is_listing(sample.text[:8192]):
            return 0
        health = "Health Status" in sample.text and "Error Code" in sample.text
        own = OWN.search(sample.text[:8192]) or health
        return 88 if own or found >= 2 or (found and COMMAND.search(sample.text)) else 0

    def read(self, source: Source) -> Reading:
        blocks = blocks_of(source.lines())
        if not blocks:
            raise ReadError("damaged_file", "The output names no value.")
        keys = {key for block in blocks for key in block}
        form = next((form for form, key in FORMS if key in keys), "items")
        warnings = _unhealthy(blocks) + _ecc_errors(blocks)
        values: Items = {"form": form, "items": blocks[0], "blocks": blocks, "error": None}
        if form == "health":
            states = [state for block in blocks if (state := _health(block))]
            values |= {"health": dict(Counter(states)), "all_healthy": _all_healthy(blocks, states)}
        if form == "ecc":
            counts = [count for block in blocks for count in _ecc_counts(block)]
            values["error_count"] = sum(counts) if counts else None
        return self.reading(values, warnings=warnings)


def _health(block: Items) -> str | None:
    """What a chip reports, None where it is not asked or not known."""
    return next((str(block[key]) for key in HEALTH if block.get(key) is not None), None)


def _all_healthy(blocks: list[Items], states: list[str]) -> bool | None:
    """None where no chip is bad but one does not tell its health."""
    if set(states) - {"OK"}:
        return False
    asked = sum(any(key in block for key in HEALTH) for block in blocks)
    return True if len(states) == asked else None


def _unhealthy(blocks: list[Items]) -> list[ReadingWarning]:
    return [
        ReadingWarning("unhealthy_chip", f"Health is {state}.")
        for block in blocks
        if (state := _health(block) or "OK") != "OK"
    ]


def _ecc_counts(block: Items) -> list[int]:
    """The counters that the chip tells; [] where it has no ECC."""
    return [
        value
        for key, value in block.items()
        if re.search(r"[Bb]it|Isolated", key) and isinstance(value, int)
    ]


def _ecc_errors(blocks: list[Items]) -> list[ReadingWarning]:
    total = sum(count for block in blocks for count in _ecc_counts(block))
    message = f"The memory counted {total} ECC errors or isolated pages."
    return [ReadingWarning("ecc_errors", message)] if total else []


@register
class NpuSmiMappingReader(Reader):
    """``npu-smi info -m``; rows named Mcu are controllers, not NPUs."""

    name = "npu_smi_mapping"
    kind = "npu_smi"
    version = "2"
    tool = "npu-smi"

    def recognises(self, sample: Sample) -> int:
        return 92 if MAPPING.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        header: list[str] = []
        chips: list[Items] = []
        for _number, line in source.lines():
            cells = re.split(r"\s{2,}|\t", line.strip())
            if cells[0] == "NPU ID":
                header = [cell.lower().replace("chip ", "", 1) for cell in cells]
            elif header and len(cells) >= len(header) and cells[0].isdigit():
                chips.append(_mapped(dict(zip(header, cells, strict=False))))
        npus = [c for c in chips if c["logic_id"] is not None or c["phy_id"] is not None]
        if not npus:
            raise ReadError("damaged_file", "The mapping names no chip.")
        names = sorted({str(chip["name"]) for chip in npus})
        values = {"form": "mapping", "chips": npus, "chip_count": len(npus), "names": names}
        return self.reading({**values, "npu_ids": sorted({c["npu"] for c in npus}), "error": None})


def _mapped(row: dict[str, str]) -> Items:
    return {
        "npu": _value(row["npu id"]),
        "chip": _value(row.get("id", "")),
        "logic_id": _value(row.get("logic id", "")),
        "phy_id": _value(row.get("phy-id", row.get("phy id", ""))),
        "name": row.get("name"),
    }


@register
class NpuSmiTopologyReader(Reader):
    """``npu-smi info -t topo``."""

    name = "npu_smi_topology"
    kind = "npu_smi"
    version = "2"
    tool = "npu-smi"

    def recognises(self, sample: Sample) -> int:
        return 92 if TOPOLOGY.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        names: list[str] = []
        links: Counter[str] = Counter()
        rows: dict[str, list[str]] = {}
        affinity: dict[str, str] = {}
        for _number, line in source.lines():
            cells = line.split()
            if TOPOLOGY.match(line):
                names = [cell for cell in cells if re.fullmatch(DEVICE, cell)]
            elif names and cells and cells[0] in names:
                rows[cells[0]] = cells[1 : len(names) + 1]
                affinity[cells[0]] = " ".join(cells[len(names) + 1 :])
                links.update(link for link in rows[cells[0]] if link != "X")
        if len(rows) != len(names):
            message = f"The matrix has {len(names)} columns but {len(rows)} rows."
            raise ReadError("damaged_file", message)
        values = {"form": "topo", "npu_count": len(rows), "links": dict(links), "matrix": rows}
        return self.reading({**values, "cpu_affinity": affinity, "error": None})


WATCH = re.compile(r"^\s*NpuID\(Idx\)\s+ChipId\(Idx\)\s+\S.*$", re.MULTILINE)
COLUMN_GAP = re.compile(r"(?<=\))\s+|\s{2,}")
WATCHED = {
    "pwr(w)": "power_w",
    "temp(c)": "temperature_c",
    "ai core(%)": "aicore_percent",
    "ai cpu(%)": "aicpu_percent",
    "ctrl cpu(%)": "ctrlcpu_percent",
    "memory(%)": "memory_percent",
    "memory bw(%)": "memory_bandwidth_percent",
    "npu util(%)": "npu_percent",
    "ai cube(%)": "aicube_percent",
}


@register
class NpuSmiWatchReader(Reader):
    """``npu-smi info watch``: a row per chip, again each second; the head may come again."""

    name = "npu_smi_watch"
    kind = "npu_smi"
    tool = "npu-smi"

    def recognises(self, sample: Sample) -> int:
        return 92 if WATCH.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        header: list[str] = []
        samples: dict[tuple[int, int], list[Items]] = {}
        for _number, line in source.lines():
            cells = line.split()
            if WATCH.match(line):
                header = [name.lower() for name in COLUMN_GAP.split(line.strip())][2:]
            elif header and len(cells) == len(header) + 2 and "".join(cells[:2]).isdigit():
                row = {WATCHED.get(name, name): _value(cell)
                       for name, cell in zip(header, cells[2:], strict=True)}  # fmt: skip
                samples.setdefault((int(cells[0]), int(cells[1])), []).append(row)
        if not samples:
            raise ReadError("damaged_file", "The table shows no chip.")
        chips = [_watched(npu, chip, rows) for (npu, chip), rows in samples.items()]
        values = {"form": "watch", "chips": chips, "chip_count": len(chips)}
        return self.reading({**values, "npu_ids": sorted({c["npu"] for c in chips}), "error": None})


def _watched(npu: int, chip: int, rows: list[Items]) -> Items:
    """Last, largest and mean value of each column of one chip."""
    numbers = {
        name: [row[name] for row in rows if isinstance(row[name], int | float)] for name in rows[0]
    }
    return {
        "npu": npu,
        "chip": chip,
        "samples": len(rows),
        "last": rows[-1],
        "max": {name: max(found) for name, found in numbers.items() if found},
        "mean": {name: sum(found) / len(found) for name, found in numbers.items() if found},
    }
