"""What two aligned curves differ in, and what the place of the first difference means."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import filterfalse
from math import inf, isfinite, isinf, isnan
from operator import eq, sub, truediv
from statistics import median
from typing import Any

from toolreaders.columns import finite_pairs, nonfinite_places
from toolreaders.curves.alignment import Aligned
from toolreaders.curves.matching import relative_tolerance
from toolreaders.training.run_conditions import LEARNING_RATE, NORM, SAMPLES, SCALE, TOKENS

Finding = dict[str, Any]  # `code`, for `toolreaders.verdicts.difference_sentences`, and its values
SIDES = ("baseline", "candidate")
CONSTANT = ("constant_ratio", "constant_offset")
FEWEST = 3  # records that make a ratio or an offset constant
MOST_DEVIATION, LEAST_RATIO, PROBES = 0.02, 0.005, 50
TENTH = 10  # a ratio or an offset is ten times as large as it varies
RATE_CHANGE = 0.1
GROWN, FEWEST_GROWN = 5, 20
FALLS = 3


def differences(inside: Aligned, tolerance: float, *, largest: float | None = None,
                is_absolute: bool = False) -> list[Finding]:
    """What tells why two curves differ, the conditions of the runs first.

    Args:
        tolerance: what a record may differ by: a fraction of the baseline's loss, or in the loss's
            own unit where `is_absolute`.
        largest: the largest relative error, where it is known.
    """
    found = [*_conditions(inside), *_constant(inside)]
    is_within = largest is not None and largest <= tolerance and not is_absolute
    if not (is_within or any(one["code"] in CONSTANT for one in found)):
        found += _first(inside, tolerance, is_absolute)
    return [*found, *_gradients(inside)]


def learning_rates(inside: Aligned) -> dict[str, int] | None:
    """At how many common steps both logs print a learning rate, and how many of them differ; None
    where a log prints none."""
    b, n = inside.beside.get(LEARNING_RATE, ((), ()))
    compared = len(b) - len({place for side in (b, n) for place in nonfinite_places(side)})
    return {"compared": compared, "differ": len(_rates_that_differ(b, n))} if compared else None


def _rates_that_differ(b: Sequence[float], n: Sequence[float]) -> list[int]:
    """Places at which two columns differ by more than their printed digits allow."""
    if b == n:
        return []
    width = max(map(relative_tolerance, (b, n)))
    return [place for place, (one, other) in enumerate(zip(b, n, strict=True))
            if abs(one - other) > width * max(abs(one), abs(other))]


def _conditions(inside: Aligned) -> Iterator[Finding]:
    for name, ours in inside.settings[0].items():
        theirs = inside.settings[1].get(name, ours)
        if ours != theirs:
            yield {"code": f"{name}_differs", "baseline": ours, "candidate": theirs}
    for name in (SAMPLES, TOKENS):
        b, n = inside.beside.get(name, ((), ()))
        if places := _rates_that_differ(b, n):
            yield {"code": f"{name}_differ", **_at(inside, name, places[0]),
                   "points": len(places), "of": len(b)}
    b, n = inside.beside.get(LEARNING_RATE, ((), ()))
    if places := _rates_that_differ(b, n):
        is_moved = len(b) > FEWEST and any(
            not _rates_that_differ(one, other) for one, other in ((b[1:], n[:-1]), (b[:-1], n[1:])))
        yield {"code": "learning_rates_moved" if is_moved else "learning_rates_differ",
               **_at(inside, LEARNING_RATE, places[0]), "points": len(places), "of": len(b)}


def _at(inside: Aligned, name: str, place: int) -> Finding:
    b, n = inside.beside[name]
    return {"step": inside.steps[place], "baseline": b[place], "candidate": n[place]}


def _constant(inside: Aligned) -> Iterator[Finding]:
    """A ratio or an offset that all common records have, the one that varies less."""
    b, n = finite_pairs(inside.baseline, inside.candidate)
    if len(b) < FEWEST or not all(b):
        return
    ratio, offset = _steady(b, n, truediv), _steady(b, n, sub)
    usual = abs(median(b[:: max(1, len(b) // PROBES)]))
    if ratio and (abs(ratio[0]) < MOST_DEVIATION or not _stands_out(ratio[0] - 1, ratio[1], 1)):
        ratio = None
    if offset and not _stands_out(offset[0], offset[1], usual):
        offset = None
    if max(b) - min(b) < MOST_DEVIATION * usual:  # a flat curve tells neither
        return
    if ratio and (not offset or ratio[1] / abs(ratio[0]) <= offset[1] / abs(offset[0])):
        yield {"code": "constant_ratio", "ratio": ratio[0], "deviation": ratio[1] / abs(ratio[0]),
               "points": len(b), "norm_ratio": _norm_ratio(inside)}
    elif offset:
        yield {"code": "constant_offset", "offset": offset[0], "deviation": offset[1],
               "points": len(b)}


def _steady(b: Sequence[float], n: Sequence[float], of: Callable[[float, float], float]
            ) -> tuple[float, float] | None:
    """The median of a quotient or difference and how far any lies from it; None where that is over
    2 per cent of it. A few records are tried before all are."""
    width = max(1, len(b) // PROBES)
    for stride in dict.fromkeys((width, 1)):
        values = array("d", map(of, n[::stride], b[::stride]))
        middle = median(values[::width] if stride == 1 else values)
        deviation = max(max(values) - middle, middle - min(values))
        if not isfinite(middle) or deviation > MOST_DEVIATION * abs(middle):
            return None
    return middle, deviation


def _stands_out(value: float, deviation: float, usual: float) -> bool:
    return abs(value) >= max(LEAST_RATIO * usual, TENTH * deviation)


def _norm_ratio(inside: Aligned) -> float | None:
    """The ratio of the gradient norms, where it is constant too."""
    b, n = finite_pairs(*inside.beside.get(NORM, ((), ())))
    found = _steady(b, n, truediv) if len(b) >= FEWEST and all(b) else None
    return found[0] if found else None


def _first(inside: Aligned, tolerance: float, is_absolute: bool) -> Iterator[Finding]:
    """The first record that differs beyond the tolerance, and what stands at its place."""
    b, n = inside.baseline, inside.candidate
    place = next((i for i, (one, other) in enumerate(zip(b, n, strict=True)) if isfinite(
        other - one) and abs(other - one) > (tolerance if is_absolute else tolerance * abs(one))),
        None)
    if place is None:
        return
    same = next((i for i, is_same in enumerate(map(eq, b, n)) if not is_same), len(b))
    yield {"code": "first_difference", "step": inside.steps[place], "baseline": b[place],
           "candidate": n[place], "tolerance": tolerance, "is_absolute": is_absolute,
           "error": abs(n[place] - b[place]) / (1 if is_absolute else abs(b[place]) or 1),
           "before": place, "identical": min(same, place), "width": inside.width,
           "method": inside.method, "place": _place(inside, place, same)}


def _place(inside: Aligned, place: int, same: int) -> str:
    """What the place means: `differences` of the first kind that fits."""
    if place == 0:
        return "first_common" if not inside.is_start else (
            "first_record" if inside.width == 1 else "first_window")
    step, before = inside.steps[place], inside.steps[place - 1]
    since, recorded = max(0, place - 2), inside.baseline_steps
    is_missing = bisect_left(recorded, step) - bisect_right(recorded, before) > 0
    norms, scales, rates = (inside.beside.get(name, ()) for name in (NORM, SCALE, LEARNING_RATE))
    kinds = {
        "resumed": any(before < resumed <= step for side in inside.resumed for resumed in side),
        "skipped": is_missing or any(isinf(norm) or isnan(norm) != isnan(side[0])
                                     for side in norms for norm in side[place - 1:place + 1]),
        "loss_scale": any(_changes(side[since:place + 1]) for side in scales),
        "learning_rate": any(_turns(side, place) for side in rates),
        "update": inside.is_start and inside.width == 1 and place in (1, same),
    }
    return next((kind for kind, is_so in kinds.items() if is_so), "later")


def _changes(values: Sequence[float]) -> bool:
    return len(set(filter(isfinite, values))) > 1


def _turns(rates: Sequence[float], place: int) -> bool:
    """Whether the schedule turns just before the place: a rise or a constant rate ends, or the
    rate jumps; an update shows in the loss one record later."""
    for at in range(max(3, place - 1), place + 1):
        was, now = rates[at - 1] - rates[at - 2], rates[at] - rates[at - 1]
        long_before = rates[at - 2] - rates[at - 3]
        is_steady = abs(was - long_before) <= RATE_CHANGE * abs(was)
        if is_steady and abs(now - was) > RATE_CHANGE * max(abs(was), abs(rates[at - 1])):
            return True
        if was > 0 and long_before > 0 and now <= 0:
            return True
    return False


def _gradients(inside: Aligned) -> Iterator[Finding]:
    """What gradient norms and loss scales tell against one of the runs."""
    norms = [array("d", filterfalse(isnan, side)) for side in inside.beside.get(NORM, ((), ()))]
    for side, own in zip(SIDES, norms, strict=True):
        if own and not any(own):
            yield {"code": "zero_norms", "log": side, "points": len(own)}
        elif bad := nonfinite_places(own):
            yield {"code": "nonfinite_norms", "log": side, "points": len(bad), "of": len(own)}
    growth = [_growth(own) for own in norms]
    if growth[1] and growth[1][1] >= GROWN * growth[1][0] and (
            not growth[0] or growth[1][1] / growth[1][0] > FALLS * growth[0][1] / growth[0][0]):
        yield {"code": "norms_grow", "first": growth[1][0], "last": growth[1][1]}
    falls = [_falls(side) for side in inside.beside.get(SCALE, ((), ()))]
    if len(falls[1]) >= len(falls[0]) + FALLS:
        _b, scales = inside.beside[SCALE]
        yield {"code": "loss_scale_falls", "points": len(falls[1]), "baseline": len(falls[0]),
               "first": scales[falls[1][0] - 1], "last": scales[falls[1][-1]],
               "step": inside.steps[falls[1][0]], "last_step": inside.steps[falls[1][-1]]}


def _growth(norms: Sequence[float]) -> tuple[float, float] | None:
    """Medians of the norms in the second and in the last tenth; None of too few, or of zeros."""
    tenth = len(norms) // 10
    if len(norms) < FEWEST_GROWN:
        return None
    parts = [[value for value in part if 0 < value < inf]
             for part in (norms[tenth:2 * tenth], norms[-tenth:])]
    if not all(parts):
        return None
    return median(parts[0]), median(parts[1])


def _falls(scales: Sequence[float]) -> list[int]:
    """Places at which the scale is at most half of the one before."""
    if not _changes(scales):
        return []
    return [place for place in range(1, len(scales)) if 0 < scales[place] <= scales[place - 1] / 2]
