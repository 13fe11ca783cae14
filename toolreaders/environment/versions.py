"""Version files of a node: driver and firmware ``version.info``, ``*_install.info`` of CANN,
``/etc/ascend_install.info``, ``version.cfg``, ``upgrade-tool --version`` and ``pip list``."""

from __future__ import annotations

import re
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.source import ReadError, ReadingWarning

PAIR = re.compile(r"^([A-Za-z][\w.-]*)=(.*)$")
AROUND = re.compile(
    r"^(?:#|```|(?P<path>==> .+ <==$|\S*[$#>] ?(?:sudo )?(?:cat|more|head|tail)\b"
    r"|(?:\[.*\]|\(.*\)).*[$#] |(?:cat )?/\S+(?:\.info|\.cfg):?$))"
)
"""What people paste around such a file: comments, fences, and the prompt or path that heads it."""
SIGNS = re.compile(
    r"^\s*(?:innerversion|package_name=Ascend|Driver_Install_Path_Param|version_dir|"
    r"compatible_version\w*|\w+_(?:running|installed)_version|ascend\w+_version|"
    r"firmware_version|package_version|required_package_\S+)\b",
    re.MULTILINE | re.IGNORECASE,
)
COMMON = {"version", "timestamp", "arch", "os", "path", "package_name"}
"""Keys that tell a version file of a node only where no other key stands."""
COMPONENTS = (
    ("ascendhal_version", "driver"),
    ("compatible_version_fw", "driver"),
    ("firmware_version", "firmware"),
    ("compatible_version_drv", "firmware"),
    ("Driver_Install_Path_Param", "install"),
)
CFG = re.compile(r"^\w+_(?:running|installed|upgrade)_version$")
BRACKETS = re.compile(r"\[([^\]:]*)(?::([^\]]*))?\]")
UPGRADE = re.compile(r'"device_id":(\d+), "component":(\w+), "version":([^}]+)\}')
PACKAGE = re.compile(r"^([A-Za-z][\w.-]*)(?:\s+|==)v?(\d+[\w.+!-]*)(?:\s+(?:/\S+|https?:\S+))?\s*$")
PIP_TABLE = re.compile(r"^Package +Version(?: +.*)?\r?\n-+ -+(?: -+)*\s*$", re.MULTILINE)
"""The head that pip prints; without it packages alone do not tell a list from other text."""
VersionFile = dict[str, tuple[str, int]]
FRAMEWORKS = {"torch", "torch-npu", "mindspore", "tensorflow", "tensorflow-cpu", "npu-bridge"}
FRAMEWORKS |= {"transformers", "mindformers", "mindspeed", "vllm", "vllm-ascend", "deepspeed"}
FRAMEWORKS |= {"accelerate"}


@register
class KeyValueVersionReader(Reader):
    """KEY=VALUE files."""

    name = "version_info"
    kind = "version_info"
    version = "3"

    def recognises(self, sample: Sample) -> int:
        if len(sample.data) > 65536:
            return 0
        lines = [line.strip() for line in sample.lines]
        lines = [line for line in lines if line and not AROUND.match(line)]
        pairs = [PAIR.match(line) for line in lines]
        if not all(pairs):
            return 0
        keys = {pair[1].lower() for pair in pairs if pair}
        is_plain = "version" in keys and keys <= COMMON
        return 85 if is_plain or SIGNS.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        files = _version_files(source)
        if len(files) > 1:
            return self._several(files)
        items = {key: value for key, (value, _number) in files[0].items()}
        lines = {key: number for key, (_value, number) in files[0].items()}
        if any(CFG.match(key) for key in items):
            return self.reading({**_version_cfg(items), "lines": lines})
        values = {**_version_of(items), "items": items, "lines": lines}
        if "Driver_Install_Path_Param" in items:
            values["driver_path"] = items["Driver_Install_Path_Param"]
        return self.reading(values)

    def _several(self, files: list[VersionFile]) -> Reading:
        """Driver, firmware and CANN printed one after another: none of them is the file's."""
        parts = []
        for found in files:
            items = {key: value for key, (value, _number) in found.items()}
            line = min(number for _value, number in found.values())
            parts.append({**_version_of(items), "items": items, "line": line})
        message = f"The file holds {len(files)} version files; each stands in “files”."
        warnings = [ReadingWarning("several_files", message, parts[1]["line"])]
        nothing = {"component": None, "version": None, "inner_version": None}
        return self.reading({**nothing, "files": parts, "items": {}}, warnings=warnings)


def _version_files(source: Source) -> list[VersionFile]:
    """Key → (value, line) of each version file; a key that comes again begins the next."""
    files: list[VersionFile] = [{}]
    for number, line in source.lines():
        around, found = AROUND.match(line.strip()), PAIR.match(line.strip())
        known = {key.lower() for key in files[-1]}
        is_headed = bool(around and around["path"])
        if files[-1] and (is_headed or (found and _begins(found[1].lower(), known))):
            files.append({})
        if found and not around:
            files[-1][found[1]] = (found[2].strip(), number)
    return [found for found in files if found]


def _begins(key: str, known: set[str]) -> bool:
    return key in known or (key == "package_name" and "version" in known)


def _version_of(items: dict[str, str]) -> dict[str, Any]:
    lowered = {key.lower(): value for key, value in items.items()}
    component = next((name for key, name in COMPONENTS if key in items), None)
    return {
        "component": component or items.get("package_name"),
        "version": lowered.get("version"),
        "inner_version": lowered.get("innerversion"),
    }


def _version_cfg(items: dict[str, str]) -> dict[str, Any]:
    """The running version counts, not the newest installed one."""
    lists = {
        key: [release or build for build, release in BRACKETS.findall(value)]
        for key, value in items.items()
        if CFG.match(key)
    }
    running = sorted({one for key in lists if "_running_" in key for one in lists[key]})
    installed = [one for key in lists if "_installed_" in key for one in lists[key]]
    return {
        "component": "CANN",
        "version": running[0] if len(running) == 1 else None,
        "running": running,
        "installed": installed,
        "items": items,
    }


@register
class UpgradeToolReader(Reader):
    """``upgrade-tool --component -1 --version``: looks like JSON, is not."""

    name = "upgrade_tool"
    kind = "version_info"
    tool = "upgrade-tool"

    def recognises(self, sample: Sample) -> int:
        return 90 if UPGRADE.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        rows = [
            {"device": int(device), "component": component, "version": version.strip()}
            for device, component, version in UPGRADE.findall(source.text)
        ]
        versions = sorted({row["version"] for row in rows})
        warnings = []
        if len(versions) > 1:
            message = f"The devices run different firmware: {', '.join(versions)}."
            warnings.append(ReadingWarning("mixed_versions", message))
        if re.search(r"^\s*\.\.\.\s*$", source.text, re.MULTILINE):
            message = "Rows are left out (“...”): not every device is shown."
            warnings.append(ReadingWarning("rows_elided", message))
        values = {
            "component": "firmware",
            "version": versions[0] if len(versions) == 1 else None,
            "devices": sorted({row["device"] for row in rows}),
            "rows": rows,
        }
        return self.reading(values, warnings=warnings)


@register
class PipListReader(Reader):
    """``pip list`` or ``pip freeze``."""

    name = "pip_list"
    kind = "version_info"
    version = "3"
    tool = "pip"

    def recognises(self, sample: Sample) -> int:
        lines = [line for line in sample.lines if line.strip()]
        matched = [found for line in lines if (found := PACKAGE.match(line.strip()))]
        names = {found[1].lower().replace("_", "-") for found in matched}
        is_known = names & FRAMEWORKS or PIP_TABLE.search(sample.text)
        return 75 if matched and is_known and len(matched) >= len(lines) * 0.8 - 2 else 0

    def read(self, source: Source) -> Reading:
        packages: dict[str, str] = {}
        lines: dict[str, int] = {}
        for number, line in source.lines():
            if found := PACKAGE.match(line.strip()):
                name = found[1].lower().replace("_", "-")
                packages[name], lines[name] = found[2], number
        if not packages:
            raise ReadError("damaged_file", "The list names no package.")
        mismatch = torch_mismatch(packages)
        warnings = [ReadingWarning("version_mismatch", mismatch)] if mismatch else []
        values = {"component": "python packages", "version": None, "packages": packages,
                  "lines": lines}  # fmt: skip
        return self.reading({**values, "consistent": not mismatch}, warnings=warnings)


def base_version(version: str) -> str:
    """X.Y.Z of ``X.Y.Z.postN.devD+cpu``: torch_npu X.Y.Z.postN needs torch X.Y.Z."""
    return re.sub(r"(?:\.post\d+|\.dev\d+|rc\d+|\+.*).*$", "", version)


def torch_mismatch(packages: dict[str, str]) -> str | None:
    """A sentence when torch and torch-npu do not belong together, else None."""
    torch, npu = packages.get("torch"), packages.get("torch-npu")
    if torch is None or npu is None or base_version(torch) == base_version(npu):
        return None
    return f"torch-npu {npu} needs torch {base_version(npu)}, but torch {torch} is installed."
