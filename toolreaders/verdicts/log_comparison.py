"""Two training logs, one rule, one verdict."""

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from multiprocessing import get_context
from pathlib import Path

from toolreaders.base import ReadError
from toolreaders.curves.alignment import Aligned, align
from toolreaders.training.series import LossSeries, read_series
from toolreaders.verdicts.verdict import Outcome, Rule, judge_curve

LONG_LOG_BYTES = 30 * 2**20


@dataclass(frozen=True)
class Comparison:
    """An aligned pair and the verdict on it."""

    aligned: Aligned
    outcome: Outcome


class UnreadableLogError(ReadError):
    """One of the two logs cannot be read; `path` says which."""

    def __init__(self, path: Path, code: str, message: str) -> None:
        super().__init__(code, message)
        self.path = path

    def __reduce__(self):  # it crosses from the reading process
        return UnreadableLogError, (self.path, self.code, self.message)


def _read(path: Path) -> LossSeries:
    try:
        return read_series(path)
    except ReadError as error:
        raise UnreadableLogError(path, error.code, error.message) from None


def _read_both(baseline: Path, candidate: Path) -> tuple[LossSeries, LossSeries]:
    """Both curves; long logs are read side by side, the second one in a process of its own."""
    if not all(path.is_file() and path.stat().st_size > LONG_LOG_BYTES
               for path in (baseline, candidate)):
        return _read(baseline), _read(candidate)
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        second = pool.submit(_read, candidate)
        return _read(baseline), second.result()


def compare_logs(baseline: Path, candidate: Path, rule: Rule, threshold: Decimal) -> Comparison:
    """Read two logs of any known kind, align them and judge them.

    Raises UnreadableLogError naming the file and what is wrong with it.
    """
    aligned = align(*_read_both(baseline, candidate))
    return Comparison(aligned, judge_curve(aligned, threshold, rule))
