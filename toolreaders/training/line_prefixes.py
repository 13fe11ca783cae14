"""Which process printed a line: what launchers put before the lines, and ranks named in them.

torchrun ``[default3]:`` ``[rank3]:`` (behind torchx' ``task/0``), MindSpeed
``[Rank 3 | Local Rank 3]``, Megatron ``[RANK 3]``, mpirun ``[1,3]<stdout>:``, srun -l ``3: ``,
docker compose ``npu-3  | ``, Ray ``(Worker pid=7)``, kubectl ``[pod/name/container] ``.
"""

from __future__ import annotations

import re
from functools import lru_cache

PREFIXES = (
    r"(?:[\w.\-]+/\d+ )?\[(?:default|rank|Rank |RANK )\s?(?P<rank>\d+)(?:[\] |][^\]]*)?\]?:?",
    r"\[\d+,(?P<task>\d+)\]<std(?:out|err)>:?",
    r"(?P<srun>\d+):(?= )",
    r"(?!(?:epoch|iter|iteration|step|batch|train|loss)[-_])"
    r"(?P<container>[A-Za-z][\w.\-]{0,60}[-_]\d+) +\|(?= |$)",
    r"\((?P<actor>[A-Za-z_][\w.]* pid=\d+(?:, ip=[\d.a-f:]+)?)\)",
    r"\[(?P<pod>pod/[\w./\-]+)\]",
)
PATTERN = rf"[ \t]*(?:{'|'.join(PREFIXES)}) ?"
PREFIX = re.compile(PATTERN)
BYTES_PREFIX = re.compile(PATTERN.encode())
INSIDE = re.compile(
    r"\[(?:gpu|npu|device) id:\s*(\d+)\s*\]|(?<![\w.\-])rank\s?[:=]?\s?(\d+)(?![\w.])",
    re.IGNORECASE,
)
BYTES_INSIDE = re.compile(rb"(?<![\w.\-])rank\s?[:=]?\s?(\d+)(?![\w.])", re.IGNORECASE)
LOOKED_AT = 400


def label_of(line: str) -> str:
    """The rank or process that the line names, empty where it names none."""
    found = PREFIX.match(line) or INSIDE.search(line[:LOOKED_AT])
    return _named(found) if found else ""


def without_prefix(line: str) -> str:
    """The line as its process printed it."""
    found = PREFIX.match(line)
    return line[found.end() :] if found else line


def prefix_of(line: str) -> str:
    """The label that a launcher put before the line, empty where there is none."""
    found = PREFIX.match(line)
    return _named(found) if found else ""


@lru_cache(1)
def plain_text(text: str) -> str:
    """The text as its processes printed it; unchanged where fewer than half its lines are
    labelled."""
    lines = text.split("\n")
    own = [without_prefix(line) for line in lines]
    labelled = sum(mine != line for mine, line in zip(own, lines, strict=True))
    return "\n".join(own) if 2 * labelled >= len(lines) else text


def plain_lines(text: str) -> list[str]:
    """The lines of ``plain_text``, also those that a carriage return ends."""
    return plain_text(text).replace("\r", "\n").split("\n")


def bytes_label_of(line: bytes) -> str:
    """As ``label_of``, of what stands in a line before its record."""
    found = BYTES_PREFIX.match(line) or BYTES_INSIDE.search(line)
    return _named(found) if found else ""


def _named(found: re.Match[str] | re.Match[bytes]) -> str:
    name = next(group for group in found.groups() if group)
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else name
