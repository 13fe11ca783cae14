"""What containers and job launchers put before each line of an output.

docker compose prints the container (``npu-1  | ``), ``kubectl logs --prefix`` the pod and the
container, ``srun --label`` the task's number. One such prefix on nearly every line is taken off.
"""

from __future__ import annotations

import re
from collections import Counter

from toolreaders.decoding import ANSI_BYTES

FORMS = (
    re.compile(rb"(?:[A-Za-z0-9][\w.-]*[-_]\d+ +|[A-Za-z0-9][\w.-]* {2,})\|(?: |$)"),
    re.compile(rb"\[pod/[\w.-]+/[\w.-]+\](?: |$)"),
    re.compile(rb" *\d+:(?: |$)"),
)
LEAST_LINES = 3
LEAST_SHARE = 0.8
"""Of the lines that are not blank; the launcher adds a few lines of its own."""


def line_prefixes(head: bytes) -> list[bytes]:
    """The prefixes, without blanks at their ends, that nearly all lines begin with; [] if none.

    Each stands before at least three lines.
    """
    lines = [line for line in ANSI_BYTES.sub(b"", head).splitlines() if line.strip()]
    for form in FORMS:
        counts = Counter(found[0].rstrip() for line in lines if (found := form.match(line)))
        frequent = [prefix for prefix, count in counts.items() if count >= LEAST_LINES]
        if frequent and sum(counts[prefix] for prefix in frequent) >= LEAST_SHARE * len(lines):
            return sorted(frequent)
    return []


def without_prefix(data: bytes, prefix: bytes) -> bytes:
    """Lines without the prefix and the blank behind it, and without terminal codes."""
    data = ANSI_BYTES.sub(b"", data)
    return re.sub(rb"^" + re.escape(prefix) + rb"(?: |(?=\r?$))", b"", data, flags=re.MULTILINE)
