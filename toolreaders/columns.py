"""Columns of numbers that grow record by record, of which a record may lack some."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any

from toolreaders.arrays import np

LACKING = float("nan")


def as_array(column: array[Any]) -> np.ndarray:
    """The numbers of an array of doubles or integers, without copying them."""
    return np.frombuffer(column, dtype=np.int64 if column.typecode == "q" else np.float64)


def kept_of(values: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """The values at ascending ``indices``; not copied where all are kept."""
    return values if len(indices) == len(values) else values[indices]


class Column:
    """A number per record in eight bytes, and whether the record tells it: NaN may be printed."""

    def __init__(self, values: Iterable[float | None] = ()) -> None:
        self._numbers, self._told = array("d"), bytearray()
        self._untold = 0  # records before the first number cost nothing
        for value in values:
            self.append(value)

    @classmethod
    def of(cls, numbers: np.ndarray) -> Column:
        """A column of which every record tells its number."""
        found = cls()
        found._numbers.frombytes(numbers.astype(np.float64).tobytes())
        found._told.extend(b"\x01" * len(numbers))
        return found

    def __len__(self) -> int:
        return self._untold + len(self._numbers)

    def append(self, value: float | None) -> None:
        """Add the number of the next record, None where it has none."""
        if value is None and not self._numbers:
            self._untold += 1
            return
        self._numbers.append(LACKING if value is None else value)
        self._told.append(value is not None)

    def extend(self, other: Column) -> None:
        """Add the numbers of the next records."""
        if not self._numbers:
            self._untold += other._untold
        elif other._untold:
            self._numbers.extend([LACKING] * other._untold)
            self._told.extend(bytes(other._untold))
        self._numbers.extend(other._numbers)
        self._told.extend(other._told)

    def pop(self) -> None:
        """Take the last record's number back."""
        if not self._numbers:
            self._untold -= 1
            return
        self._numbers.pop()
        self._told.pop()

    @property
    def values(self) -> np.ndarray:
        """All numbers, NaN where a record has none; while they are in use nothing can be added."""
        found = as_array(self._numbers)
        return np.concatenate([np.full(self._untold, LACKING), found]) if self._untold else found

    @property
    def is_told(self) -> np.ndarray:
        """Which records have a number."""
        found = np.frombuffer(self._told, dtype=bool)
        return np.concatenate([np.zeros(self._untold, bool), found]) if self._untold else found

    def keep(self, indices: np.ndarray) -> Column:
        """The column of these records alone, in their order."""
        if len(indices) == len(self):
            return self
        kept = Column()
        if not self._numbers:
            kept._untold = len(indices)
            return kept
        kept._numbers.frombytes(self.values[indices].tobytes())
        kept._told = bytearray(self.is_told[indices].tobytes())
        return kept

    @property
    def known(self) -> np.ndarray:
        """The numbers of the records that have one."""
        return as_array(self._numbers)[np.frombuffer(self._told, dtype=bool)]
