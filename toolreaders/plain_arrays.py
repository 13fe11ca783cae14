"""The functions of numpy that the readers use, for columns of numbers, in plain Python.

Named and called as numpy's; values are Python's numbers. What no reader needs is not here: arrays
have one dimension, and a slice is a copy.
"""

from __future__ import annotations

import math
import operator
from array import array as _buffer
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import accumulate, pairwise
from statistics import median as _median
from typing import Any

inf, nan = math.inf, math.nan
int64, float64 = int, float
CODES = {int: "q", float: "d"}
MOST = 1.7976931348623157e308  # of a double


class iinfo:  # noqa: N801
    """Limits of an integer type; there is one."""

    def __init__(self, _type: type) -> None:
        self.max = 2**63 - 1


class ndarray:  # noqa: N801
    """A column of numbers of one type."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, values: Iterable[Any], dtype: type | None = None) -> None:
        self._values = list(values) if dtype is None else list(map(dtype, values))
        self._dtype = dtype

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return ndarray(self._values[key], self._dtype)
        if hasattr(key, "__index__"):
            return self._values[key]
        return ndarray((self._values[place] for place in _places(key)), self._dtype)

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, slice):
            key = range(*key.indices(len(self)))
        for place in [key] if hasattr(key, "__index__") else _places(key):
            self._values[place] = value

    def _with(self, call: Callable[[Any, Any], Any], other: Any) -> ndarray:
        if not isinstance(other, ndarray):
            return ndarray(call(value, other) for value in self)
        if len(self) == 1 != len(other):
            return ndarray(call(self[0], value) for value in other)
        if len(other) == 1:
            return ndarray(call(value, other[0]) for value in self)
        return ndarray(map(call, self, _same(self, other)))

    def __add__(self, other: Any) -> ndarray:
        return self._with(operator.add, other)

    def __sub__(self, other: Any) -> ndarray:
        return self._with(operator.sub, other)

    def __mul__(self, other: Any) -> ndarray:
        return self._with(operator.mul, other)

    def __truediv__(self, other: Any) -> ndarray:
        return self._with(_quotient, other)

    def __mod__(self, other: Any) -> ndarray:
        return self._with(operator.mod, other)

    def __and__(self, other: Any) -> ndarray:
        return self._with(operator.and_, other)

    def __or__(self, other: Any) -> ndarray:
        return self._with(operator.or_, other)

    def __lt__(self, other: Any) -> ndarray:
        return self._with(operator.lt, other)

    def __le__(self, other: Any) -> ndarray:
        return self._with(operator.le, other)

    def __gt__(self, other: Any) -> ndarray:
        return self._with(operator.gt, other)

    def __ge__(self, other: Any) -> ndarray:
        return self._with(operator.ge, other)

    def __eq__(self, other: Any) -> ndarray:  # type: ignore[override]
        return self._with(operator.eq, other)

    def __ne__(self, other: Any) -> ndarray:  # type: ignore[override]
        return self._with(operator.ne, other)

    def __radd__(self, other: Any) -> ndarray:
        return self._with(operator.add, other)

    def __rmul__(self, other: Any) -> ndarray:
        return self._with(operator.mul, other)

    def __rsub__(self, other: Any) -> ndarray:
        return ndarray(other - value for value in self)

    def __rpow__(self, other: Any) -> ndarray:
        return ndarray(_power(other, value) for value in self)

    def __neg__(self) -> ndarray:
        return ndarray(map(operator.neg, self))

    def __invert__(self) -> ndarray:
        return ndarray(map(operator.not_, self))

    def __abs__(self) -> ndarray:
        return ndarray(map(abs, self))

    def astype(self, dtype: type) -> ndarray:
        return ndarray(self, dtype)

    def copy(self) -> ndarray:
        return ndarray(self, self._dtype)

    def tolist(self) -> list[Any]:
        return list(self)

    def tobytes(self) -> bytes:
        kind = self._dtype or (type(self[0]) if len(self) else float)
        return bytes(self) if kind is bool else _buffer(CODES[kind], self).tobytes()

    def all(self) -> bool:
        return all(self._values)

    def any(self) -> bool:
        return any(self._values)

    def sum(self) -> Any:
        try:
            return math.fsum(self) if any(isinstance(v, float) for v in self) else sum(self)
        except (OverflowError, ValueError):  # infinities of both signs
            return sum(self)

    def mean(self) -> float:
        return self.sum() / len(self) if len(self) else nan

    def min(self, initial: Any = None) -> Any:
        values = self._values if initial is None else [*self, initial]
        return nan if any(map(isnan, values)) else min(values)

    def max(self) -> Any:
        return nan if any(map(isnan, self)) else max(self)


def _same(left: Sequence[Any], right: Sequence[Any]) -> Sequence[Any]:
    if len(left) != len(right):
        raise ValueError(f"columns of {len(left)} and {len(right)} numbers")
    return right


def _places(key: Any) -> Iterable[int]:
    """Places that a column of booleans marks, or that a column of places names."""
    marks = list(key)
    return flatnonzero(marks) if marks and isinstance(marks[0], bool) else marks


def _quotient(left: float, right: float) -> float:
    if right:
        return left / right
    return nan if not left or isnan(left) else math.copysign(inf, left)


def _power(base: float, exponent: float) -> float:
    try:
        return base**exponent
    except OverflowError:
        return inf


def _each(call: Callable[[Any], Any], values: Any) -> Any:
    """The call's result of a number, or of each of a column."""
    return ndarray(map(call, values)) if isinstance(values, ndarray) else call(values)


def array(values: Iterable[Any], dtype: type | None = None) -> ndarray:
    return ndarray(values, dtype)


asarray = fromiter = array


def frombuffer(column: Any, dtype: type) -> ndarray:
    """The numbers of an array of the standard library, or the bytes of a bytearray."""
    return ndarray(column, dtype)


def full(count: int, value: Any, dtype: type | None = None) -> ndarray:
    return ndarray([value] * count, dtype)


def empty(count: int, dtype: type = float) -> ndarray:
    return full(count, 0, dtype)


def zeros(count: int, dtype: type = float) -> ndarray:
    return full(count, 0, dtype)


def ones(count: int, dtype: type = float) -> ndarray:
    return full(count, 1, dtype)


def zeros_like(values: ndarray) -> ndarray:
    return zeros(len(values), type(values[0]) if len(values) else float)


def arange(*bounds: int, dtype: type = int) -> ndarray:
    return ndarray(range(*bounds), dtype)


def concatenate(columns: Iterable[Iterable[Any]]) -> ndarray:
    return ndarray(value for column in columns for value in column)


def append(values: Any, more: Any) -> ndarray:
    """The numbers of both; each may be one number."""
    return concatenate(part if isinstance(part, ndarray) else [part] for part in (values, more))


def split(values: ndarray, places: Sequence[int]) -> list[ndarray]:
    return [values[start:end] for start, end in pairwise([0, *places, len(values)])]


def diff(values: ndarray) -> ndarray:
    return ndarray(other - one for one, other in pairwise(values))


def cumsum(values: Iterable[Any]) -> ndarray:
    return ndarray(accumulate(values))


def where(marks: Iterable[bool], then: Any, otherwise: Any) -> ndarray:
    count = len(marks := list(marks))
    columns = (side if isinstance(side, ndarray) else [side] * count for side in (then, otherwise))
    return ndarray(one if mark else other for mark, one, other in zip(marks, *columns, strict=True))


def flatnonzero(marks: Iterable[Any]) -> ndarray:
    return ndarray((place for place, mark in enumerate(marks) if mark), int)


def count_nonzero(marks: Iterable[Any]) -> int:
    return sum(map(bool, marks))


def isfinite(values: Any) -> Any:
    return _each(math.isfinite, values)


def isnan(values: Any) -> Any:
    return _each(math.isnan, values)


def abs(values: Any) -> Any:  # noqa: A001
    return _each(operator.abs, values)


def log10(values: Any) -> Any:
    return _each(math.log10, values)


def floor(values: Any) -> Any:
    return _each(lambda value: float(math.floor(value)) if math.isfinite(value) else value, values)


def nan_to_num(values: Any) -> Any:
    return _each(lambda value: 0.0 if math.isnan(value) else max(-MOST, min(value, MOST)), values)


class _Maximum:
    def __call__(self, left: Any, right: Any) -> ndarray:
        column, other = (left, right) if isinstance(left, ndarray) else (right, left)
        return column._with(lambda a, b: nan if isnan(a) or isnan(b) else max(a, b), other)


class _Minimum:
    @staticmethod
    def accumulate(values: ndarray) -> ndarray:
        return ndarray(accumulate(values, min))


maximum, minimum = _Maximum(), _Minimum()


def median(values: Iterable[Any]) -> float:
    values = list(values)
    return nan if not values or any(map(math.isnan, values)) else float(_median(values))


def partition(values: Iterable[Any], _place: int) -> ndarray:
    return ndarray(sorted(values))


def argsort(values: ndarray, kind: str = "stable") -> ndarray:
    return ndarray(sorted(range(len(values)), key=values.__getitem__), int)


def argmax(values: ndarray) -> int:
    return max(range(len(values)), key=values.__getitem__)


def searchsorted(values: ndarray, wanted: Any, side: str = "left") -> Any:
    bisect = bisect_left if side == "left" else bisect_right
    return _each(lambda value: bisect(values, value), wanted)


def unique(values: Iterable[Any], return_index: bool = False, return_counts: bool = False) -> Any:
    counts = Counter(values := list(values))
    found = ndarray(sorted(counts))
    if return_index:
        first = {value: place for place, value in reversed(list(enumerate(values)))}
        return found, ndarray((first[value] for value in found), int)
    return (found, ndarray((counts[value] for value in found), int)) if return_counts else found


def union1d(left: Iterable[Any], right: Iterable[Any]) -> ndarray:
    return unique([*left, *right])


def setdiff1d(left: Iterable[Any], right: Iterable[Any], assume_unique: bool = False) -> ndarray:
    gone = set(right)
    kept = [value for value in left if value not in gone]
    return ndarray(kept) if assume_unique else unique(kept)


def intersect1d(left: Iterable[Any], right: Iterable[Any], assume_unique: bool,
                return_indices: bool) -> tuple[ndarray, ndarray, ndarray]:
    """Common values in order, and where each of the two has them; both hold each value once."""
    assert (assume_unique, return_indices) == (True, True), "no reader asks otherwise"
    ours, theirs = ({value: place for place, value in enumerate(side)} for side in (left, right))
    common = sorted(ours.keys() & theirs.keys())
    return ndarray(common), ndarray(map(ours.get, common)), ndarray(map(theirs.get, common))


def isin(values: Iterable[Any], known: Iterable[Any]) -> ndarray:
    known = set(known)
    return ndarray((value in known for value in values), bool)


def array_equal(left: Iterable[Any], right: Iterable[Any]) -> bool:
    return list(left) == list(right)


def convolve(values: ndarray, kernel: ndarray, mode: str) -> ndarray:
    """Sums of neighbouring values, weighted by an even or symmetrical kernel."""
    assert (mode, kernel.tolist()) == ("valid", kernel.tolist()[::-1]), "no reader asks otherwise"
    weights, numbers = kernel.tolist(), values.tolist()
    return ndarray(sum(map(operator.mul, numbers[start : start + len(weights)], weights))
                   for start in range(len(numbers) - len(weights) + 1))


def errstate(**_kinds: str) -> AbstractContextManager[None]:
    return nullcontext()
