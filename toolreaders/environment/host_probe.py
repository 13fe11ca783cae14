"""Our own probe of a node: the outputs of a few commands, each under ``== command ==``.

Missing commands are null, never a guess. Sizes: free in MiB, df -Pk in 1024-byte blocks.
"""

from __future__ import annotations

import re
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.source import ReadError, ReadingWarning

SECTION = re.compile(r"^== (?P<name>.+?) ==$")
FIRST = ("uname -m", "/etc/os-release", "lscpu", "free -m", "df -Pk", "python3 --version")
NOT_FOUND = re.compile(
    r"not found|No such file|未找到|没有那个文件|cannot access|Permission denied"
)
ARCH = re.compile(r"^[a-z0-9_]{3,20}$")
CPUS = re.compile(r"^(?:CPU\(s\)|CPU|CPU:)\s*[:：]\s*(\d+)\s*$")
NUMA = re.compile(r"^NUMA (?:node\(s\)|节点)\s*[:：]\s*(\d+)\s*$")
MODEL = re.compile(r"^(?:Model name|BIOS Model name|型号名称)\s*[:：]\s*(.+)$")
MEMORY = re.compile(r"^(?:Mem|内存)\s*[:：]\s*(\d+)(?:\s+\d+){2,4}(?:\s+(\d+))?")
PYTHON = re.compile(r"^Python (\d+\.\d+\.\d+\S*)")
GCC = re.compile(r"(\d+\.\d+(?:\.\d+)?)(?:\s+\d{8})?(?:\s+\([^)]*\))?\s*$")
SECTION_OF = {
    "arch": "uname -m", "os": "/etc/os-release", "cpus": "lscpu", "numa_nodes": "lscpu",
    "memory_mb": "free -m", "disks": "df -Pk", "python": "python3 --version",
    "gcc": "gcc --version", "product": "/sys/class/dmi/id/product_name",
}  # fmt: skip
PSEUDO = ("tmpfs", "devtmpfs", "overlay", "shm", "udev", "none", "proc", "sysfs")


@register
class HostProbeReader(Reader):
    """Architecture, operating system, processors, memory, disks, Python and gcc of a node."""

    name = "host_probe"
    kind = "host_probe"
    version = "2"
    tool = "host probe"

    def recognises(self, sample: Sample) -> int:
        names = {found["name"] for line in sample.lines if (found := SECTION.match(line.strip()))}
        return 95 if len(names & set(FIRST)) >= 2 else 0

    def read(self, source: Source) -> Reading:
        sections, lines = _sections(source)
        values = _values(sections)
        if not any(value not in (None, []) for value in values.values()):
            raise ReadError("no_values", "The probe tells nothing about the node.")
        absent = [name for name in FIRST if name not in sections]
        warnings = [
            ReadingWarning("section_missing", f"The probe has no section {name!r}: it was cut off.")
            for name in absent
        ]
        warnings += [
            ReadingWarning("value_missing", f"The probe does not tell {name}.")
            for name in ("arch", "os", "cpus", "memory_mb", "python", "gcc")
            if values[name] is None
        ]
        values["lines"] = {name: lines[section] for name, section in SECTION_OF.items()
                           if section in lines and values[name] not in (None, [])}  # fmt: skip
        return self.reading(values, warnings=warnings)


def _sections(source: Source) -> tuple[dict[str, list[str]], dict[str, int]]:
    """Lines of each section by its name, and the number of its first line."""
    found: dict[str, list[str]] = {}
    numbers: dict[str, int] = {}
    current: list[str] = []
    for number, line in source.lines():
        if header := SECTION.match(line.strip()):
            current = found.setdefault(header["name"], [])
            numbers[header["name"]] = number + 1
        elif line.strip():
            current.append(line.strip())
    return found, numbers


def _values(sections: dict[str, list[str]]) -> dict[str, Any]:
    release = _release(sections.get("/etc/os-release", []))
    processors = sections.get("lscpu", [])
    memory = _search(MEMORY, sections.get("free -m", []))
    return {
        "arch": _arch(sections.get("uname -m", [])),
        "os": release.get("NAME") or release.get("ID"),
        "os_version": release.get("VERSION_ID"),
        "os_id": release.get("ID"),
        "os_name": release.get("PRETTY_NAME"),
        "cpus": _integer(CPUS, processors),
        "cpu_model": _group(MODEL, processors),
        "numa_nodes": _integer(NUMA, processors),
        "memory_mb": int(memory[1]) if memory else None,
        "memory_available_mb": int(memory[2]) if memory and memory[2] else None,
        "disks": _disks(sections.get("df -Pk", [])),
        "python": _group(PYTHON, sections.get("python3 --version", [])),
        "gcc": _gcc(sections.get("gcc --version", [])),
        "product": _product(sections.get("/sys/class/dmi/id/product_name", [])),
        "clock": _integer(re.compile(r"^(\d{9,11})$"), sections.get("date +%s", [])),
    }


def _search(pattern: re.Pattern[str], lines: list[str]) -> re.Match[str] | None:
    return next((found for line in lines if (found := pattern.search(line))), None)


def _group(pattern: re.Pattern[str], lines: list[str]) -> str | None:
    found = _search(pattern, lines)
    return found[1].strip() if found else None


def _integer(pattern: re.Pattern[str], lines: list[str]) -> int | None:
    found = _group(pattern, lines)
    return int(found) if found else None


def _arch(lines: list[str]) -> str | None:
    return lines[0] if lines and ARCH.match(lines[0]) else None


def _release(lines: list[str]) -> dict[str, str]:
    pairs = (line.partition("=") for line in lines if "=" in line)
    return {name.strip(): value.strip().strip("\"'") for name, _sign, value in pairs}


def _disks(lines: list[str]) -> list[dict[str, Any]]:
    """Real file systems; the mount point may hold blanks, the pseudo ones are left out."""
    disks = []
    for line in lines:
        cells = line.split(None, 5)
        if len(cells) < 6 or not all(cell.isdigit() for cell in cells[1:4]):
            continue
        if cells[0] in PSEUDO and cells[5] != "/":
            continue
        total, used, free = (int(cell) for cell in cells[1:4])
        disks.append({
            "device": cells[0],
            "mount": cells[5],
            "total_kb": total,
            "used_kb": used,
            "available_kb": free,
            "used_fraction": used / (used + free) if used + free else None,
        })  # fmt: skip
    return disks


def _product(lines: list[str]) -> str | None:
    """The product name of the server's firmware tables, such as “Atlas 800I A2”."""
    return lines[0] if lines and not NOT_FOUND.search(lines[0]) else None


def _gcc(lines: list[str]) -> str | None:
    if not lines or NOT_FOUND.search(lines[0]):
        return None
    return _group(GCC, [line for line in lines if re.match(r"\S*(?:gcc|clang)\b", line)])
