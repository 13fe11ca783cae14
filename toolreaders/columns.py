"""Columns of numbers: arrays of eight bytes a number, and records of which some lack theirs."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import compress, islice
from math import fsum, isfinite
from operator import lt

LACKING = float("nan")


def integers(values: Iterable[int]) -> array[int]:
    """The values as an array of signed integers; not copied where they are one."""
    return values if isinstance(values, array) else array("q", values)


def doubles(values: Iterable[float]) -> array[float]:
    """The values as an array of doubles; not copied where they are one."""
    return values if isinstance(values, array) else array("d", values)


def at_indices(values: array, indices: Sequence[int]) -> array:
    """The values at ascending ``indices``; not copied where all are kept."""
    if len(indices) == len(values):
        return values
    return array(values.typecode, map(values.__getitem__, indices))


def is_ascending(values: Sequence[float]) -> bool:
    """Whether every value is above the one before."""
    return all(map(lt, values, islice(values, 1, None)))


def ordered(steps: Sequence[int]) -> Sequence[int]:
    """The steps in ascending order, each of them once."""
    return steps if is_ascending(steps) else sorted(set(steps))


def nonfinite_places(values: Sequence[float]) -> list[int]:
    """Where a value is NaN or infinite."""
    if isfinite(sum(values)):  # as it is of no other values
        return []
    return [place for place, value in enumerate(values) if not isfinite(value)]


def finite_pairs(
    one: Sequence[float], other: Sequence[float]
) -> tuple[Sequence[float], Sequence[float]]:
    """The values of both at the places where both are finite."""
    bad = {*nonfinite_places(one), *nonfinite_places(other)}
    if not bad:
        return one, other
    chosen = [place for place in range(len(one)) if place not in bad]
    return [one[place] for place in chosen], [other[place] for place in chosen]


def total(values: Iterable[float]) -> float:
    """The sum, rounded once; infinite or NaN as a plain sum is."""
    values = values if isinstance(values, Sequence | array) else list(values)
    try:
        return fsum(values)
    except (OverflowError, ValueError):
        return sum(values)


def mean(values: Sequence[float]) -> float | None:
    """The arithmetic mean; None of no value."""
    return total(values) / len(values) if len(values) else None


class Column:
    """A number per record in eight bytes, and whether the record tells it: NaN may be printed."""

    def __init__(self, values: Iterable[float | None] = ()) -> None:
        self._numbers, self._present = array("d"), bytearray()
        self._absent = 0  # records before the first number cost nothing
        for value in values:
            self.append(value)

    @classmethod
    def of(cls, numbers: array[float]) -> Column:
        """A column of which every record tells its number."""
        found = cls()
        found._numbers, found._present = numbers, bytearray(b"\x01") * len(numbers)
        return found

    @classmethod
    def lacking(cls, count: int) -> Column:
        """A column of which no record tells its number."""
        found = cls()
        found._absent = count
        return found

    def __len__(self) -> int:
        return self._absent + len(self._numbers)

    def append(self, value: float | None) -> None:
        """Add the number of the next record, None where it has none."""
        if value is None and not self._numbers:
            self._absent += 1
            return
        self._numbers.append(LACKING if value is None else value)
        self._present.append(value is not None)

    def extend(self, other: Column) -> None:
        """Add the numbers of the next records."""
        if not self._numbers:
            self._absent += other._absent
        elif other._absent:
            self._numbers.extend([LACKING] * other._absent)
            self._present.extend(bytes(other._absent))
        self._numbers.extend(other._numbers)
        self._present.extend(other._present)

    def pop(self) -> None:
        """Take the last record's number back."""
        if not self._numbers:
            self._absent -= 1
            return
        self._numbers.pop()
        self._present.pop()

    @property
    def values(self) -> array[float]:
        """All numbers, NaN where a record has none."""
        return array("d", [LACKING]) * self._absent + self._numbers

    @property
    def has_value(self) -> bytes:
        """Which records have a number: a byte each, 1 or 0."""
        return bytes(self._absent) + self._present

    def keep(self, indices: Sequence[int]) -> Column:
        """The column of these records alone, in their order."""
        if len(indices) == len(self):
            return self
        chosen = Column()
        if not self._numbers:
            chosen._absent = len(indices)
            return chosen
        chosen._numbers = at_indices(self.values, indices)
        chosen._present = bytearray(map(self.has_value.__getitem__, indices))
        return chosen

    @property
    def known(self) -> array[float]:
        """The numbers of the records that have one."""
        return array("d", compress(self._numbers, self._present))
