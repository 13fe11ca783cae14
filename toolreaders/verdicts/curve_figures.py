"""The figures in use of two aligned loss curves; relative values are fractions."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from decimal import Decimal
from itertools import accumulate, repeat
from math import inf
from operator import add, sub, truediv
from sys import float_info

from toolreaders.columns import finite_pairs, mean
from toolreaders.curves.alignment import Aligned
from toolreaders.verdicts.exact import exact_figure

TWO_PERCENT = Decimal("0.02")
ADDED_EPSILON = 1e-9  # MindSpeed: |b − f| / (|b| + 1e-9)
ADDED = {"mean_relative_error_epsilon_added": ADDED_EPSILON}
LEFT_OUT = {"mean_relative_error_from_step_21": 20}
SMALLEST = float_info.min
LAST = {"relative_error_last_100": 100}


def curve_figures(aligned: Aligned, epsilon: float = 0.0) -> dict[str, float | None]:
    """All figures in use for two aligned curves; pairs with a non-finite value are left out.

    Returns fractions; None where nothing finite is left.
    """
    b, n = finite_pairs(aligned.baseline, aligned.candidate)
    errors, sizes = absolute_errors(b, n), array("d", map(abs, b))
    relative, first = _relative(errors, sizes, epsilon), LEFT_OUT[
        "mean_relative_error_from_step_21"]
    left_out, _other = finite_pairs(aligned.baseline[:first], aligned.candidate[:first])
    return {
        "mean_relative_error": mean(relative),
        "mean_relative_error_from_step_21": mean(relative[len(left_out):]),
        "max_relative_error": max(relative, default=None),
        "mean_absolute_error": mean(errors),
        "relative_error_of_means": _of_means(b, n),
        "mean_relative_error_smoothed_100": mean(
            relative_errors(_running_means(b, 100), _running_means(n, 100))),
        "relative_error_last_100": _of_means(b[-100:], n[-100:]),
        "fraction_over_2_percent": _share_over(TWO_PERCENT, b, n, relative),
        "mean_relative_error_epsilon_added": mean(_added(errors, sizes, ADDED_EPSILON)),
        "relative_error_first_step": relative[0] if relative else None,
    }


def absolute_errors(b: Sequence[float], n: Sequence[float]) -> array[float]:
    """|n − b| per step."""
    return array("d", map(abs, map(sub, n, b)))


def relative_errors(b: Sequence[float], n: Sequence[float], epsilon: float = 0.0,
                    errors: array[float] | None = None) -> array[float]:
    """|n − b| / max(|b|, ε) per step; equal zeros are 0, an unequal zero baseline is infinite.
    ``errors``: |n − b|, where it is known."""
    return _relative(errors or absolute_errors(b, n), array("d", map(abs, b)), epsilon)


def _relative(errors: array[float], sizes: array[float], epsilon: float) -> array[float]:
    if min(sizes, default=inf) >= max(epsilon, SMALLEST):
        return array("d", map(truediv, errors, sizes))
    pairs = ((error, max(size, epsilon)) for error, size in zip(errors, sizes, strict=True))
    return array("d", (
        0.0 if error == 0 else error / size if size else error * inf for error, size in pairs))


def added_errors(b: Sequence[float], n: Sequence[float], added: float) -> array[float]:
    """|n − b| / (|b| + added) per step."""
    return _added(absolute_errors(b, n), array("d", map(abs, b)), added)


def _added(errors: array[float], sizes: array[float], added: float) -> array[float]:
    return array("d", map(truediv, errors, map(added.__add__, sizes)))


def _share_over(
    limit: Decimal, b: Sequence[float], n: Sequence[float], relative: Sequence[float]
) -> float | None:
    """The share of relative errors above the limit; what binary cannot tell is told exactly."""
    if not relative:
        return None
    least, most = float(limit) - 1e-12, float(limit) + 1e-12
    over = sum(map(most.__lt__, relative))
    is_close = sum(map(least.__lt__, relative)) > over
    for place, error in enumerate(relative if is_close else ()):
        if least < error <= most:
            pair = slice(place, place + 1)
            exact = exact_figure("relative_error_first_step", b[pair], n[pair])
            over += exact is not None and exact > limit
    return over / len(relative)


def _of_means(b: Sequence[float], n: Sequence[float]) -> float | None:
    reference, other = mean(b), mean(n)
    return abs(other - reference) / abs(reference) if reference else None


def _running_means(values: Sequence[float], width: int) -> array[float]:
    """Means of every ``width`` neighbours: each window is the end of one block of that width and
    the beginning of the next, so that no rounding adds up over more of them."""
    found = array("d")
    for start in range(0, len(values) - width + 1, width):
        ends = [*accumulate(reversed(values[start:start + width]))]
        beginnings = accumulate(values[start + width:start + 2 * width - 1], initial=0.0)
        found.extend(map(truediv, map(add, reversed(ends), beginnings), repeat(width)))
    return found
