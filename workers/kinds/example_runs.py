"""What a kind declares of its own proofs; the tests read it from the class.

A good run lies in `tests/samples/kinds/CODE/`: `tests/workers/kinds/test_silence.py` damages
it in every way and asks the kind again. `tests/practice_node/test_kinds.py` runs the kind over SSH.
"""

from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

PROJECT_SCRIPT = "~/projects/inspection/run.py"  # of the practice node
FREE_PORT, SERVED = "a free port", "the address of a service"  # replaced when the job is queued


class LogShows(Enum):
    """What the log of a good run proves; what it does not, its files do."""

    RESULT = auto()
    DEVICE_ONLY = auto()  # the device, or checksums
    NOTHING = auto()


@dataclass(frozen=True)
class GoodRun:
    """The stored run.

    Args:
        parameters: what it was asked beside the example parameters.
        cards, status: leased, and how its command ended.
        files: patterns of files that must be there beside the kind's `judged_files`.
        reads_content: False where only the names of those files count.
        also_of: kinds whose output is one of this kind, too.
    """

    parameters: dict[str, Any] = field(default_factory=dict)
    cards: int = 0
    status: int = 0
    log_shows: LogShows = LogShows.RESULT
    files: tuple[str, ...] = ()
    reads_content: bool = True
    also_of: tuple[str, ...] = ()


@dataclass(frozen=True)
class PracticeRun:
    """A job that succeeds on the practice node, and what its results then hold."""

    parameters: dict[str, Any] = field(default_factory=dict)
    results: dict[str, Any] = field(default_factory=dict)
