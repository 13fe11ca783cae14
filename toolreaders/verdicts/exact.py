"""Figures in decimal arithmetic, for where binary rounding could decide a verdict.

A loss printed as 5.1 against 5.0 is 2 % off exactly; in binary it is 1.999…993 %, which would pass
a strict "< 2 %". The values as printed are the shortest decimals of the doubles (`repr`).
"""

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal, localcontext

DIGITS = 60
ADDED = Decimal("1e-9")  # MindSpeed: |b − f| / (|b| + 1e-9)
PRECISION = 45  # digits of the result: absorbs the rounding of the divisions
Values = Sequence[Decimal]


def exact_figure(name: str, b: Sequence[float], n: Sequence[float], epsilon: float = 0.0
                 ) -> Decimal | None:
    """A curve figure of finite values to 45 digits; None for figures that are never judged.

    Args:
        name: a key of `curve_figures`.
        b, n: baseline and candidate on common steps.
    """
    if name not in FIGURES or not len(b):
        return None
    with localcontext() as context:
        context.prec = DIGITS
        figure = FIGURES[name](printed(b), printed(n), Decimal(repr(float(epsilon))))
        context.prec = PRECISION
        return None if figure is None else +figure


def printed(values: Iterable[float]) -> list[Decimal]:
    """The shortest decimals that read back as these doubles."""
    return [Decimal(repr(float(value))) for value in values]


def _relative(b: Values, n: Values, epsilon: Decimal) -> list[Decimal]:
    infinite = Decimal("Infinity")
    pairs = [(abs(y - x), max(abs(x), epsilon)) for x, y in zip(b, n, strict=True)]
    return [Decimal(0) if not error else error / size if size else infinite
            for error, size in pairs]


def _mean(values: Values) -> Decimal | None:
    return sum(values, Decimal(0)) / len(values) if values else None


def _of_means(b: Values, n: Values, _epsilon: Decimal) -> Decimal | None:
    reference = sum(b, Decimal(0))
    return abs(sum(n, Decimal(0)) - reference) / abs(reference) if reference else None


def _smooth(values: Values, width: int) -> list[Decimal]:
    """Running sums: their ratios are those of the running means."""
    running = [sum(values[:width], Decimal(0))] if len(values) >= width else []
    for gone, come in zip(values, values[width:], strict=False):
        running.append(running[-1] - gone + come)
    return running


FIGURES: dict[str, Callable[[Values, Values, Decimal], Decimal | None]] = {
    "mean_relative_error": lambda b, n, e: _mean(_relative(b, n, e)),
    "mean_relative_error_from_step_21": lambda b, n, e: _mean(_relative(b, n, e)),
    "max_relative_error": lambda b, n, e: max(_relative(b, n, e)),
    "mean_absolute_error": lambda b, n, e: _mean([abs(y - x) for x, y in zip(b, n, strict=True)]),
    "relative_error_of_means": _of_means,
    "relative_error_last_100": lambda b, n, e: _of_means(b[-100:], n[-100:], e),
    "relative_error_first_step": lambda b, n, e: _relative(b[:1], n[:1], e)[0],
    "mean_relative_error_epsilon_added": lambda b, n, e: _mean(
        [abs(y - x) / (abs(x) + ADDED) for x, y in zip(b, n, strict=True)]),
    "mean_relative_error_smoothed_100": lambda b, n, e: _mean(
        _relative(_smooth(b, 100), _smooth(n, 100), Decimal(0))),
}
