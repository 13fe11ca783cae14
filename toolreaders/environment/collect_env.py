"""What ``collect_env.py`` of PyTorch, vLLM and vLLM-Ascend prints, and the lists of versions of
``llamafactory-cli env`` and ``transformers env``: packages, CANN, and the table of npu-smi."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.environment.npu_smi import HEADER
from toolreaders.environment.versions import torch_mismatch
from toolreaders.source import ReadError, ReadingWarning

START = re.compile(r"^Collecting environment information|^Is debug build *:", re.MULTILINE)
MARK = r"[ \t>]*(?:[-*•·] +)?"
LISTED = re.compile(
    rf"^{MARK}(?:`?(?:transformers|llamafactory|accelerate)`? version: \d|Platform: \S|"
    r"(?:PyTorch|Python|CANN|Datasets|PEFT|TRL|DeepSpeed|Huggingface_hub) version(?: \(.*\))?: \d)",
    re.IGNORECASE | re.MULTILINE,
)
"""Lines of such a list, with or without its marks."""
LEAST_LISTED = 3
TORCH = re.compile(r"^PyTorch version *:", re.MULTILINE)
ITEM = re.compile(rf"^{MARK}([A-Za-z][\w .()/?-]*?) *: +(\S.*?)\s*$")
PIP = re.compile(r"^\[(?:pip\d?|conda)\] ([A-Za-z][\w.-]*?)(?:==|\s+)v?(\d[\w.+!-]*)")
VERSION = re.compile(r"\d[\w.+]*")
PACKAGES = {
    "pytorch version": "torch",
    "vllm version": "vllm",
    "vllm ascend version": "vllm-ascend",
    "transformers version": "transformers",
    "accelerate version": "accelerate",
    "peft version": "peft",
    "trl version": "trl",
    "deepspeed version": "deepspeed",
    "datasets version": "datasets",
    "llamafactory version": "llamafactory",
}
TOOLKIT = re.compile(r"^package_name=(Ascend-cann-toolkit)")
PAIR = re.compile(r"^(version|innerversion)=(\S+)")


@dataclass
class Environment:
    """What the lines tell; ``parts`` are version files as `versions` gives them."""

    packages: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    items: dict[str, str] = field(default_factory=dict)
    parts: list[dict[str, Any]] = field(default_factory=list)

    def take(self, number: int, line: str) -> None:
        """Read one line."""
        if found := PIP.match(line):
            self._package(found[1], found[2], number)
        elif found := HEADER.search(line):
            self._part("driver", found[2], number)
        elif found := TOOLKIT.match(line):
            self._part(found[1], None, number)
        elif self.parts and (found := PAIR.match(line)):
            name = "version" if found[1] == "version" else "inner_version"
            self.parts[-1][name] = found[2]
        elif found := ITEM.match(line.replace("`", "")):
            self._item(found[1].lower(), found[2], number)

    def _item(self, name: str, value: str, number: int) -> None:
        self.items.setdefault(name, value)
        self.lines.setdefault(name, number)
        version = VERSION.match(value)
        package = PACKAGES.get(re.sub(r" \(.*\)$", "", name))
        if package and version:
            self._package(package, version[0], number)
        elif name == "cann version" and version:
            self._part("CANN", value, number)

    def _package(self, name: str, version: str, number: int) -> None:
        known = name.lower().replace("_", "-")
        self.packages.setdefault(known, version)
        self.lines.setdefault(known, number)

    def _part(self, component: str, version: str | None, number: int) -> None:
        part = {"component": component, "version": version, "inner_version": None}
        self.parts.append({**part, "line": number})


@register
class CollectEnvReader(Reader):
    """Environment as a framework's own script tells it; a table of npu-smi in it stays a part."""

    name = "collect_env"
    kind = "version_info"
    version = "2"
    tool = "collect_env"

    def recognises(self, sample: Sample) -> int:
        is_script = START.search(sample.text) and TORCH.search(sample.text)
        is_list = len(set(LISTED.findall(sample.text))) >= LEAST_LISTED
        return 96 if is_script or is_list else 0

    def read(self, source: Source) -> Reading:
        found = Environment()
        for number, line in source.lines():
            found.take(number, line)
        if not found.packages:
            raise ReadError("damaged_file", "The environment names no package.")
        values = {
            "component": "environment",
            "version": None,
            "packages": found.packages,
            "files": found.parts,
            "os": found.items.get("os"),
            "python": found.items.get("python version"),
            "lines": found.lines,
        }
        warnings = []
        if mismatch := torch_mismatch(found.packages):
            line = found.lines.get("torch-npu")
            warnings.append(ReadingWarning("version_mismatch", mismatch, line))
        return self.reading({**values, "consistent": not warnings}, warnings=warnings)
