"""What Megatron-LM prints before its first iteration: sizes of model and parallel groups.

``using world size: 16, data-parallel size: 2, … tensor-model-parallel size: 2, …`` (Megatron-LM
megatron/training/arguments.py) and ``Total number of parameters in billions: 6.74``.
"""

from __future__ import annotations

import re
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
