"""Two training logs, one rule, one verdict."""

import pickle
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from multiprocessing import get_context
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from toolreaders.base import ReadError
from toolreaders.curves.alignment import Aligned, align
from toolreaders.curves.band import band_of
from toolreaders.training.series import LossSeries, read_series
from toolreaders.verdicts.devices import NO_NPU, NoNpu, no_npu_in, not_proven
from toolreaders.verdicts.difference_sentences import difference_sentence
from toolreaders.verdicts.sentences import sentence
from toolreaders.verdicts.verdict import Outcome, Rule, judge_curve

LONG_LOG_BYTES = 30 * 2**20


@dataclass(frozen=True)
class Comparison:
    """An aligned pair and the verdict on it; ``no_npu``: where the candidate's log says that it
    used none. Any two logs may be compared; what such a figure does not prove is said beside it."""

    aligned: Aligned
    outcome: Outcome
    no_npu: NoNpu | None

    def values(self, rule: Rule, threshold: Decimal, unit: str,
               translate: Callable[[str], str] = str) -> dict[str, Any]:
        """The alignment, the figures as fractions, the verdict with its reason and its sentence,
        the warnings."""
        outcome, facts = self.outcome, self.outcome.facts
        warnings = [vars(warning) for warning in self.aligned.warnings]
        if self.no_npu is not None:
            withheld = not_proven(outcome, self.no_npu)
            message = sentence(withheld.outcome, NO_NPU, None, threshold, "", "", withheld.facts,
                               translate)
            warnings.append({"code": NO_NPU, "line": self.no_npu.line, "message": message})
        return {
            **{name: facts[name] for name in (
                "common_points", "first_step", "last_step", "coverage", "nonfinite",
                "first_nonfinite_step", "alignment", "learning_rates")},
            "differences": [{**found, "sentence": difference_sentence(found, translate)}
                         for found in facts["differences"]],
            "figures": outcome.figures, "figure": outcome.figure, "threshold": float(threshold),
            "verdict": outcome.outcome, "reason": outcome.reason,
            "sentence": sentence(outcome.outcome, outcome.reason, outcome.figure, threshold,
                                 rule.comparison, unit, facts, translate),
            "warnings": warnings,
        }


class UnreadableLogError(ReadError):
    """One of the two logs cannot be read; `path` says which."""

    def __init__(self, path: Path, code: str, message: str) -> None:
        super().__init__(code, message)
        self.path = path

    def __str__(self) -> str:
        return f"{self.path}: {self.code}: {self.message}"

    def __reduce__(self):  # it crosses from the reading process
        return UnreadableLogError, (self.path, self.code, self.message)


def _read(path: Path) -> LossSeries:
    try:
        return read_series(path)
    except ReadError as error:
        raise UnreadableLogError(path, error.code, error.message) from None


def _read_into(path: Path, file: str) -> None:
    with Path(file).open("wb") as stream:
        pickle.dump(_read(path), stream)


def _read_both(baseline: Path, candidate: Path) -> tuple[LossSeries, LossSeries]:
    """Both curves; long logs are read side by side, the second one in a process of its own. It
    comes back column by column through a file: through a pipe it would be held three times."""
    if not all(path.is_file() and path.stat().st_size > LONG_LOG_BYTES
               for path in (baseline, candidate)):
        return _read(baseline), _read(candidate)
    with (NamedTemporaryFile() as file,
          ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool):
        second = pool.submit(_read_into, candidate, file.name)
        reference = _read(baseline)
        second.result()
        return reference, pickle.load(file)


def compare_logs(baseline: Path, candidate: Path, rule: Rule, threshold: Decimal,
                 repeats: Sequence[Path] = ()) -> Comparison:
    """Read two logs of any known kind, align them and judge them; with two or more `repeats` of
    the baseline, say whether the candidate leaves their band.

    Raises UnreadableLogError naming the file and what is wrong with it.
    """
    reference, measured = _read_both(baseline, candidate)
    aligned = align(reference, measured)
    outcome = judge_curve(aligned, threshold, rule)
    band = band_of([align(reference, _read(path)) for path in repeats])
    if band and (found := band.finding(aligned)):
        outcome.facts["differences"].append(found)
    return Comparison(aligned, outcome, no_npu_in(candidate))
