"""Step numbers of Hugging Face Trainer's records, which it does not print.

They are taken only where epochs, progress bar, totals and run time leave one answer.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, compress
from math import ceil, floor, inf, isfinite, log10

from toolreaders.columns import Column, nonfinite_places

MOST_TRIALS = 200_000
MOST_BARS = 5_000_000
RATE_DECIMALS, TIME_DECIMALS = 3, 4  # as transformers 4 prints them
FOUR = 4  # digits of a number as transformers 5 prints it
UNKNOWN = 2**63 - 1


@dataclass
class Bars:
    """Progress bars in file order: their counter, its end, and how many records stand before."""

    done: array[int] = field(default_factory=lambda: array("q"))
    totals: array[int] = field(default_factory=lambda: array("q"))
    records: array[int] = field(default_factory=lambda: array("q"))

    def append(self, done: int, total: int, records: int) -> None:
        """Add a bar; of one that is printed again and again without a record the last counts."""
        is_again = (
            len(self.done) > 1
            and self.records[-2] == records
            and self.totals[-2] == self.totals[-1] == total
        )
        if is_again:
            self.done[-1] = done
        elif len(self.done) < MOST_BARS:
            self.done.append(done)
            self.totals.append(total)
            self.records.append(records)

    def since(self, record: int) -> Bars:
        """The bars that stand behind so many records."""
        first = bisect_left(self.records, record)
        return Bars(self.done[first:], self.totals[first:], self.records[first:])

    def total(self, least: int) -> int | None:
        """The end of the bar that is printed most, of those that reach ``least``."""
        counts = Counter(end for end in self.totals if end >= least)
        return max(sorted(counts), key=counts.__getitem__, default=None)

    def reached(self, total: int) -> int:
        """The highest count of the bar with this end."""
        return max(compress(self.done, self._are_of(total)), default=0)

    def _are_of(self, total: int) -> Iterable[bool]:
        return map(total.__eq__, self.totals)

    def bounds(self, total: int, selected: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
        """Counts of the bar before and behind each record; a record stands between them."""
        records = list(compress(self.records, self._are_of(total)))
        padded = [0, *compress(self.done, self._are_of(total)), UNKNOWN]
        at = [bisect_right(records, record) for record in selected]
        low, high = [padded[place] for place in at], [padded[place + 1] for place in at]
        return low, [most if most >= least else UNKNOWN
                     for least, most in zip(low, high, strict=True)]


@dataclass(frozen=True)
class Known:
    """What a log tells about its steps.

    ``total``: steps of the whole run. ``is_whole``: the last record belongs to its end.
    ``final_epoch``: the epoch of that end. ``low``, ``high``: bounds of each record's step.
    """

    epochs: Column
    total: int | None
    is_whole: bool
    final_epoch: float | None = None
    low: Sequence[int] | None = None
    high: Sequence[int] | None = None


def agreed_total(
    printed: int | None, bar: int | None, rate: float | None, seconds: float | None
) -> int | None:
    """Steps of the whole run as the log states them, as its bar ends, and as run time and steps
    per second give them; None where they contradict each other or leave several numbers."""
    low, high = _total_by_rate(rate, seconds)
    named = {printed, bar} - {None}
    if not named and ceil(low) == floor(high):
        return floor(high)
    total = named.pop() if len(named) == 1 else None
    return total if total is not None and low <= total <= high else None


def _total_by_rate(rate: float | None, seconds: float | None) -> tuple[float, float]:
    """The least and the most steps that a rate and a time with their digits allow."""
    if not (rate and seconds and 0 < rate < UNKNOWN and 0 < seconds < UNKNOWN):
        return 0.0, float(UNKNOWN)
    error = _half_digit(rate, RATE_DECIMALS) * seconds + _half_digit(seconds, TIME_DECIMALS) * rate
    return rate * seconds - error, rate * seconds + error


def _half_digit(number: float, decimals: int) -> float:
    """Half a unit of the last digit: of so many decimals, or of four digits if no more are told."""
    digits = f"{number:.12g}".replace(".", "").lstrip("0")
    fourth = 0.5 * 10.0 ** (floor(log10(number)) - FOUR + 1) if len(digits) <= FOUR else 0.0
    return max(0.5 * 10.0**-decimals, fourth)


def proven_steps(count: int, known: Known) -> array[int] | None:
    """The steps of ``count`` records, None where the log allows none or several answers.

    A Trainer records the multiples of its interval, and the first step if it is asked to
    (``logging_first_step``). A resumed run begins with a later multiple.
    """
    if not known.total or known.total < count or not all(known.epochs.has_value):
        return None
    epochs = known.epochs.values
    if nonfinite_places(epochs) or not isfinite(known.final_epoch or 0.0):
        return None
    tolerances, found = _tolerances(epochs), None
    for interval, first, last in _candidates(count, known):
        steps = range(last - interval * (count - 1), last + 1, interval)
        if _fits([1, *steps[1:]] if first else steps, known, epochs, tolerances):
            proven = array("q", [1, *steps[1:]] if first else steps)
            if found not in (None, proven):
                return None
            found = proven
    return found


def _candidates(count: int, known: Known) -> Iterator[tuple[int, bool, int]]:
    """(interval, whether the first step is recorded besides, last step)."""
    assert known.total is not None, "checked by proven_steps"
    trials = 0
    for interval in range(1, known.total // max(1, count - 1) + 1):
        for last in _last_steps(interval, known):
            trials += 1
            if trials > MOST_TRIALS:
                return
            if last - interval * (count - 1) >= interval:
                yield interval, False, last
            if interval > 1 and count > 1 and last == interval * (count - 1):
                yield interval, True, last


def _last_steps(interval: int, known: Known) -> range:
    assert known.total is not None, "checked by proven_steps"
    end = interval * (known.total // interval)
    if known.is_whole or known.low is None or known.high is None:
        return range(end, end + 1) if known.is_whole else range(0)
    low, high = known.low[-1], min(known.high[-1], end)
    return range(-(-max(low, 1) // interval) * interval, high + 1, interval)


def _tolerances(epochs: array[float]) -> list[float]:
    """How far each printed epoch may be from the true one: half a unit of its last digit.

    Trainer rounds to two decimals, or prints four digits.
    """
    texts = [f"{abs(epoch):.12g}" for epoch in epochs[:2000]]
    digits = max(FOUR, *(len(text.split("e")[0].replace(".", "").lstrip("0")) for text in texts))
    decimals = max(_decimals(text) for text in texts)
    sizes = (floor(log10(abs(epoch) or 1e-12)) for epoch in epochs)
    return [max(0.5 * 10.0**-decimals, 0.5 * 10.0 ** (size - digits + 1)) * (1 + 1e-9)
            for size in sizes]


def _decimals(text: str) -> int:
    number, _e, exponent = text.partition("e")
    return max(2, len(number.partition(".")[2]) - int(exponent or 0))


def _fits(
    steps: Sequence[int], known: Known, epochs: Sequence[float], tolerances: Sequence[float]
) -> bool:
    """Whether the epochs grow with the steps, give or take one step, within the bars' bounds."""
    if known.low is not None and known.high is not None and not all(
            low <= step <= high
            for step, low, high in zip(steps, known.low, known.high, strict=True)):
        return False
    ends = [(steps[-1], epochs[-1], tolerances[-1])]  # what does not fit shows at the ends first
    if known.is_whole and known.final_epoch is not None:
        ends.append((known.total or 0, known.final_epoch, max(tolerances)))
    slowest, fastest = -inf, inf
    for step, epoch, width in chain(ends, zip(steps, epochs, tolerances, strict=True)):
        slowest = max(slowest, (epoch - width) / (step + 1))
        if step > 1:
            fastest = min(fastest, (epoch + width) / (step - 1))
        if slowest > fastest:
            return False
    return True
