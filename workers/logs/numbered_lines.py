"""A part of a log with the numbers of its lines."""

import re
from dataclasses import dataclass, field
from itertools import islice

from workers.logs import live_log
from workers.models import Job

REACH = 100  # lines before and after the one that is asked for
LONGEST = 2000  # characters shown of a line
TRACE = re.compile(r"^(.*?)(?:Traceback \(most recent call last\)|\[ERROR\] TraceBack)")
LEAST_FOLDED = 4  # lines of a stack trace
Line = tuple[int, str]


@dataclass
class Block:
    """Lines of a log: usual ones, or the frames of a stack trace, which a page folds."""

    is_trace: bool
    lines: list[Line] = field(default_factory=list)

    def holds(self, number: int) -> bool:
        return any(place == number for place, _text in self.lines)


def blocks_of(lines: list[Line]) -> list[Block]:
    """The lines with the stack traces apart, from `Traceback` to the last indented line.

    What a launcher prints before each line, as `[rank3]: `, is passed over. The exception itself
    stands behind the trace and is not folded.
    """
    blocks, prefix = [Block(False)], None
    for number, text in lines:
        found = TRACE.match(text)
        if found:
            prefix = found[1]
            blocks.append(Block(True))
        elif prefix is not None and not text.removeprefix(prefix).startswith((" ", "\t")):
            prefix = None
            blocks.append(Block(False))
        blocks[-1].lines.append((number, text))
    for block in blocks:
        block.is_trace = block.is_trace and len(block.lines) >= LEAST_FOLDED
    return [block for block in blocks if block.lines]


def around(job: Job, number: int) -> list[tuple[int, str]]:
    """Lines from 100 before to 100 after a line, each with its number from 1 on.

    Of a line that was written over by carriage returns, what stood there last.
    """
    first = max(1, number - REACH)
    with live_log.opened(job) as log:
        lines = list(islice(log, first - 1, number + REACH)) if log else []
    return [(place, _shown(line)) for place, line in enumerate(lines, first)]


def _shown(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\r\n").rpartition("\r")[2][:LONGEST]
