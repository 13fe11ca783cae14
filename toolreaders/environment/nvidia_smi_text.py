"""What people paste of nvidia-smi: its table (drivers 290 to 610), ``-q``, ``topo -m``, ``-L``,
``--query-gpu … --format=csv``, and its failures.

Memory is in MiB. A name that the table cuts (``Tesla V100-SXM2...``) stays as it is printed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.tables import cells_of

Gpu = dict[str, Any]
BUS = r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]"
HEAD = re.compile(
    r"^[^|\"'\\\n]{0,80}\| *NVIDIA-SMI +(?P<smi>\S+) +(?:Driver|KMD) Version: *(?P<driver>\d\S*)"
    r"(?: +CUDA (?:UMD )?Version: *(?P<cuda>[\d.]+|N/A|ERR!))? *\|",
    re.MULTILINE,
)
FIRST = re.compile(r"(?P<index>\d+)\\?\.? +(?P<name>\S.*?) +(?:On|Off|N/A|WDDM|TCC|MCDM)")
SECOND = re.compile(r"(?P<used>\d+)MiB */ *(?P<total>\d+)MiB")
TEMPERATURE = re.compile(r"\b(\d+)C\b")
LOAD = re.compile(r"(\d+)% ")
PROCESS = re.compile(
    r"(?P<index>\d+) +(?:\S+ +\S+ +)?(?P<pid>\d+) +(?P<type>[CGM]\S*) +(?P<name>.+?) +"
    r"(?P<used>\d+MiB|N/A)"
)
GPU_ROW = re.compile(rf"^[^|\"'\\\n]{{0,80}}\| *{FIRST.pattern} *\| *{BUS} ", re.MULTILINE)
PROCESS_ROW = re.compile(rf"^[^|\"'\\\n]{{0,80}}\| *{PROCESS.pattern} *\|", re.MULTILINE)
LEAST_PROCESSES = 2
"""Rows of processes alone, by which a table without GPUs is known."""
OTHER_PARTS = re.compile(r"\| *(?:MIG devices|(?:Compute )?[Pp]rocesses):")
ELIDED = re.compile(r"[\s|]*(?:\.{3,}|…+)[\s|]*")


@dataclass
class Snapshot:
    """One printed table; ``versions`` is None where its head is missing."""

    versions: re.Match[str] | None
    line: int
    gpus: list[Gpu] = field(default_factory=list)
    processes: list[dict[str, Any]] = field(default_factory=list)
    pending: Gpu | None = None
    lacking: list[int] = field(default_factory=list)
    is_behind: bool = False  # in a part behind the GPUs
    is_elided: bool = False

    def take(self, number: int, line: str) -> None:
        """Read one line of the table."""
        self.is_behind = self.is_behind or bool(OTHER_PARTS.search(line))
        self.is_elided = self.is_elided or bool(ELIDED.fullmatch(line))
        cells = cells_of(line[max(line.find("|"), 0) :])
        if cells and len(cells) == 3 and not self.is_behind:
            self._gpu(number, cells)
        elif cells and len(cells) == 1 and (found := PROCESS.fullmatch(cells[0])):
            used = found["used"].removesuffix("MiB")
            self.processes.append(
                {"gpu": int(found["index"]), "pid": int(found["pid"]), "name": found["name"],
                 "memory_mb": int(used) if used.isdigit() else None}
            )  # fmt: skip

    def _gpu(self, number: int, cells: list[str]) -> None:
        first, bus = FIRST.fullmatch(cells[0]), re.match(BUS, cells[1])
        if first and bus:
            self.close()
            self.pending = {"index": int(first["index"]), "name": first["name"], "bus": bus[0],
                            "line": number}  # fmt: skip
        elif self.pending and (memory := SECOND.fullmatch(cells[1])):
            heat, load = TEMPERATURE.search(cells[0]), LOAD.match(cells[2])
            self.gpus.append({
                **self.pending,
                "memory_used_mib": int(memory["used"]),
                "memory_total_mib": int(memory["total"]),
                "temperature_c": int(heat[1]) if heat else None,
                "load_percent": int(load[1]) if load else None,
            })  # fmt: skip
            self.pending = None

    def close(self) -> None:
        """Note a GPU whose second row does not tell its memory, as that of a lost one."""
        if self.pending:
            self.lacking.append(self.pending["index"])
        self.pending = None


@register
class NvidiaSmiTableReader(Reader):
    """``nvidia-smi``: the last table counts. One without its head is known by its rows."""

    name = "nvidia_smi_table"
    kind = "nvidia_smi"
    tool = "nvidia-smi"

    def recognises(self, sample: Sample) -> int:
        if HEAD.search(sample.text):
            return 94
        processes = sum(PROCESS_ROW.match(line) is not None for line in sample.lines)
        return 90 if GPU_ROW.search(sample.text) or processes >= LEAST_PROCESSES else 0

    def read(self, source: Source) -> Reading:
        snapshots: list[Snapshot] = []
        for number, line in source.lines():
            found = HEAD.match(line)
            if found or (not snapshots and (GPU_ROW.match(line) or PROCESS_ROW.match(line))):
                snapshots.append(Snapshot(found, number))
            if not found and snapshots:
                snapshots[-1].take(number, line)
        last = snapshots[-1]
        last.close()
        if not last.gpus and (last.versions or last.lacking):
            raise ReadError("damaged_file", "The nvidia-smi table shows no complete GPU.")
        versions = last.versions.groupdict() if last.versions else {}
        cuda = versions.get("cuda")
        values = {
            "form": "table",
            "driver_version": versions.get("driver"),
            "cuda_version": cuda if cuda and cuda[0].isdigit() else None,
            "gpus": last.gpus,
            "processes": last.processes,
        }
        warnings = list(_table_warnings(snapshots))
        return self.reading(values, warnings=warnings, tool_version=versions.get("smi"))


def _table_warnings(snapshots: list[Snapshot]) -> Iterator[ReadingWarning]:
    last = snapshots[-1]
    if last.versions is None:
        message = "The head of the table is missing: the driver's version is not known."
        yield ReadingWarning("version_missing", message, last.line)
    if not last.gpus:
        message = "The table shows processes only: its rows of GPUs are missing."
        yield ReadingWarning("truncated_record", message, last.line)
    if last.lacking:
        message = f"The table does not tell the memory of GPU {', '.join(map(str, last.lacking))}."
        yield ReadingWarning("truncated_record", message)
    if last.is_elided:
        yield ReadingWarning("rows_elided", "Rows are left out (“...”): not every GPU is shown.")
    if len(snapshots) > 1:
        message = f"The file holds {len(snapshots)} tables; the last one counts."
        yield ReadingWarning("several_snapshots", message, last.line)


TITLE = re.compile(r"^=+NVSMI LOG=+\s*$", re.MULTILINE)
BLOCK = re.compile(rf"^GPU ({BUS})\s*\\?\s*$")
PAIR = re.compile(r"^\s*([A-Z][\w ().]*?)\s*: (.*?)\s*\\?$")
SECTION = re.compile(r"^ +([A-Z][\w ]*?)\s*$")


@register
class NvidiaSmiQueryReader(Reader):
    """``nvidia-smi -q``, whole or with ``-d``: the last report of the file counts."""

    name = "nvidia_smi_query"
    kind = "nvidia_smi"
    tool = "nvidia-smi"

    def recognises(self, sample: Sample) -> int:
        return 94 if TITLE.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        general: dict[str, str] = {}
        gpus: list[Gpu] = []
        section, reports = "", 0
        for number, line in source.lines():
            if TITLE.match(line):
                general, gpus, reports = {}, [], reports + 1
            elif found := BLOCK.match(line):
                gpus.append({"bus": found[1], "name": None, "memory_total_mib": None,
                             "memory_used_mib": None, "line": number})  # fmt: skip
            elif found := SECTION.match(line):
                section = found[1]
            elif found := PAIR.match(line):
                _take_pair(general, gpus, section, found)
        if not gpus:
            raise ReadError("damaged_file", "The report of nvidia-smi shows no GPU.")
        cuda = general.get("CUDA Version", "")
        values = {
            "form": "query",
            "driver_version": general.get("Driver Version"),
            "cuda_version": cuda if cuda[:1].isdigit() else None,
            "gpus": gpus,
        }
        warnings = list(_query_warnings(general, gpus, reports))
        return self.reading(values, warnings=warnings, tool_version=values["driver_version"])


MEMORY_ITEMS = {"Total": "memory_total_mib", "Used": "memory_used_mib"}


def _take_pair(
    general: dict[str, str], gpus: list[Gpu], section: str, found: re.Match[str]
) -> None:
    name, value = found.groups()
    if not gpus:
        general[name] = value
    elif name == "Product Name":
        gpus[-1]["name"] = value
    elif section == "FB Memory Usage" and name in MEMORY_ITEMS:
        amount = re.fullmatch(r"(\d+) (?:MiB|MB)", value)
        gpus[-1][MEMORY_ITEMS[name]] = int(amount[1]) if amount else None


def _query_warnings(
    general: dict[str, str], gpus: list[Gpu], reports: int
) -> Iterator[ReadingWarning]:
    attached = general.get("Attached GPUs", str(len(gpus)))
    if attached != str(len(gpus)):
        message = f"{attached} GPUs are attached, but {len(gpus)} are shown."
        yield ReadingWarning("truncated_record", message)
    if reports > 1:
        message = f"The file holds {reports} reports; the last one counts."
        yield ReadingWarning("several_snapshots", message)


GPU = r"GPU\d+"
TOPOLOGY = re.compile(rf"^\s+GPU0\s+(?:{GPU}\s+)*(?:\S+\s+)*?CPU Affinity", re.MULTILINE)


@register
class NvidiaTopologyReader(Reader):
    """``nvidia-smi topo -m``: links between GPUs, each counted in both directions."""

    name = "nvidia_smi_topology"
    kind = "nvidia_smi"
    tool = "nvidia-smi"

    def recognises(self, sample: Sample) -> int:
        return 92 if TOPOLOGY.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        names: list[str] = []
        matrix: dict[str, list[str]] = {}
        for _number, line in source.lines():
            cells = line.split()
            if TOPOLOGY.match(line):
                names, matrix = [cell for cell in cells if re.fullmatch(GPU, cell)], {}
            elif cells and cells[0] in names and len(cells) > len(names):
                matrix[cells[0]] = cells[1 : len(names) + 1]
        if list(matrix) != names or any(row[n] != "X" for n, row in enumerate(matrix.values())):
            message = f"The matrix has {len(names)} columns but {len(matrix)} whole rows."
            raise ReadError("damaged_file", message)
        links = Counter(link for row in matrix.values() for link in row if link != "X")
        values = {"form": "topo", "driver_version": None, "cuda_version": None, "gpus": [],
                  "gpu_count": len(names), "links": dict(links), "matrix": matrix}  # fmt: skip
        return self.reading(values)


LISTED = re.compile(r"^GPU (\d+): (\S.*?) \(UUID: (GPU-[0-9a-f-]{8,})\)\s*$", re.MULTILINE)
FIELD = r"[a-z_.]+(?: \[[^\]]+\])?"
CSV_HEAD = re.compile(
    r"^(?=.*\b(?:name|driver_version)\b)(?=.*\b(?:memory|utilization)\.|.*\bindex\b)"
    rf"{FIELD}(?:, {FIELD})+\s*$"
)
IDENTITIES = ("index", "uuid", "gpu_uuid", "pci.bus_id", "gpu_bus_id", "serial")


@register
class NvidiaListReader(Reader):
    """``nvidia-smi -L`` and ``--query-gpu … --format=csv`` with its header."""

    name = "nvidia_smi_list"
    kind = "nvidia_smi"
    tool = "nvidia-smi"

    def recognises(self, sample: Sample) -> int:
        is_table = any(CSV_HEAD.match(line) for line in sample.lines if len(line) < 1000)
        return 85 if is_table or LISTED.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        rows = list(_query_rows(source))
        gpus = [_queried(row) for row in _newest(rows)] if rows else [
            {"index": int(index), "name": name, "uuid": uuid, "memory_total_mib": None}
            for index, name, uuid in LISTED.findall(source.text)
        ]  # fmt: skip
        if not gpus:
            raise ReadError("damaged_file", "The list of nvidia-smi shows no GPU.")
        drivers = {row.get("driver_version") for row in rows}
        driver = drivers.pop() if len(drivers) == 1 else None
        values = {"form": "list", "driver_version": driver, "cuda_version": None, "gpus": gpus}
        return self.reading(values, tool_version=driver)


def _query_rows(source: Source) -> Iterator[dict[str, str]]:
    header: list[str] = []
    for _number, line in source.lines():
        cells = [cell.strip() for cell in line.split(",")]
        if CSV_HEAD.match(line):
            header = cells
        elif len(cells) == len(header):
            yield dict(zip(header, cells, strict=True))


def _newest(rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """The last row of each GPU; a loop prints them again."""
    identity = next((name for name in IDENTITIES if name in rows[0]), None)
    if identity is None and len(rows) > 1:
        message = "The rows name no GPU (index, uuid): GPUs and repetitions look alike."
        raise ReadError("no_identity", message)
    return list({row[identity] if identity else "": row for row in rows}.values())


def _queried(row: dict[str, str]) -> Gpu:
    index = row.get("index", "")
    return {
        "index": int(index) if index.isdigit() else None,
        "name": row.get("name", row.get("gpu_name")),
        "bus": row.get("pci.bus_id"),
        "uuid": row.get("uuid", row.get("gpu_uuid")),
        "memory_total_mib": _mebibytes(row, "memory.total"),
        "memory_used_mib": _mebibytes(row, "memory.used"),
    }


def _mebibytes(row: dict[str, str], name: str) -> int | None:
    found = re.fullmatch(r"(\d+)(?: MiB)?", row.get(f"{name} [MiB]", ""))
    return int(found[1]) if found else None


FAILURE = re.compile(
    r"NVIDIA-SMI has failed because|Failed to initialize NVML|^No devices were found|"
    r"nvidia-smi: (?:command )?not found|command not found: nvidia-smi|"
    r"nvidia-smi: (?:No such file|Permission denied)|nvidia-smi ?[:：] ?未找到命令|"
    r"Unable to determine the device handle for GPU",
    re.IGNORECASE,
)
LONGEST_FAILURE = 4096


@register
class NvidiaFailureReader(Reader):
    """A failure of nvidia-smi instead of a table: nothing is known of the GPUs."""

    name = "nvidia_smi_failure"
    kind = "nvidia_smi"
    tool = "nvidia-smi"

    def recognises(self, sample: Sample) -> int:
        if len(sample.data) > LONGEST_FAILURE or HEAD.search(sample.text):
            return 0
        return 70 if any(map(FAILURE.search, sample.lines)) else 0

    def read(self, source: Source) -> Reading:
        number, line = next((n, line) for n, line in source.lines() if FAILURE.search(line))
        printed = line.strip()[:300]
        values = {"form": "failure", "driver_version": None, "cuda_version": None, "gpus": [],
                  "error": {"message": printed}}  # fmt: skip
        message = f"nvidia-smi failed, no GPU is known: {printed}"
        return self.reading(values, warnings=[ReadingWarning("nvidia_smi_failed", message, number)])
