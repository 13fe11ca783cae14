"""What Megatron-LM and MindSpeed print before the first iteration (megatron/training/arguments.py).

Sizes of model and parallel groups: ``using world size: 16, data-parallel size: 2, …
tensor-model-parallel size: 2, …`` and ``Total number of parameters in billions: 6.74``.

The arguments: ``------- arguments -------``, then ``  name ....... value`` in order of the names,
then ``---- end of arguments ----``. A run that stops before its first iteration leaves nothing
else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from toolreaders.source import Source

PATTERNS = {
    "processes": r"using world size: (\d+)",
    "declared_dp": r"using world size:.*?data-parallel[- ]size: (\d+)",
    "cp": r"using world size:.*?(?<!hierarchical )context-parallel size: (\d+)",
    "tp": r"using world size:.*?(?<!encoder-)tensor-model-parallel size: (\d+)",
    "pp": r"using world size:.*?(?<!encoder-)pipeline-model-parallel size: (\d+)",
    "parameters_billion": r"Total number of parameters in billions: +(\d+\.\d+)(?=\s)",
}
OPENING = re.compile(r"-{4,} (?:updated )?arguments -{4,}")
CLOSING = re.compile(r"-{4,} end of (?:updated )?arguments -{4,}")
ARGUMENT = re.compile(r"(?:^|[\s:|])([a-z_]\w*) \.+ ?(.*?)\s*$", re.IGNORECASE)
ABSENT = ("None", "")
MOST = 4000
SCANNED_BYTES = 16 * 1024**2


def started(source: Source) -> tuple[dict[str, Any], dict[str, int]]:
    """Values by name, and their lines; of the first 256 KiB, which hold the start."""
    text = source.head.decode("utf-8", "replace")
    values: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for name, pattern in PATTERNS.items():
        if found := re.search(pattern, text):
            read = float if name == "parameters_billion" else int
            values[name] = read(found[1])
            lines[name] = text.count("\n", 0, found.start()) + 1
    return values, lines


@dataclass
class Arguments:
    """Texts by name and their lines; ``is_closed`` once the block's end was seen."""

    values: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    is_open: bool = False
    is_closed: bool = False

    def take(self, number: int, line: str) -> None:
        """Read one line; of several blocks, one per restart or update, the later value counts."""
        if OPENING.search(line):
            self.is_open = True
        elif CLOSING.search(line):
            self.is_open, self.is_closed = False, True
        elif self.is_open and len(self.values) < MOST and (found := ARGUMENT.search(line)):
            if found[2] in ABSENT:
                return
            self.values[found[1]], self.lines[found[1]] = found[2], number


def arguments_of(source: Source, until: re.Pattern[bytes] | None = None) -> Arguments:
    """The arguments in the first 16 MiB, or before the chunk in which ``until`` is found."""
    found, first, seen = Arguments(), 1, 0
    for chunk in source.chunks():
        if found.is_open or b"arguments" in chunk:
            for number, line in enumerate(chunk.decode("utf-8", "replace").split("\n"), first):
                found.take(number, line)
        first += chunk.count(b"\n")
        seen += len(chunk)
        if seen > SCANNED_BYTES or (until and until.search(chunk)):
            break
    return found
