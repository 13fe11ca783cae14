"""The spread of repeats, by hand."""

import pytest

from toolreaders.verdicts.spread import Spread, spread_of


@pytest.mark.parametrize(("values", "expected"), [
    ([5.0], (1, 5.0, None, 5.0, 5.0)), ([1.0, 2.0], (2, 1.5, 0.5**0.5, 1.0, 2.0)),
    ([2.0, 2.0, 2.0], (3, 2.0, 0.0, 2.0, 2.0)), ([4.0, 1.0, 1.0], (3, 2.0, 3.0**0.5, 1.0, 4.0))])
def test_runs_mean_deviation_and_ends(values, expected):
    assert spread_of(values) == Spread(*expected)


def test_no_value_has_no_spread():
    assert spread_of([]) is None


@pytest.mark.parametrize(("runs", "is_repeatable"), [(1, False), (2, False), (3, True), (4, True)])
def test_three_runs_are_repeatable(runs, is_repeatable):
    assert spread_of([1.0] * runs).is_repeatable is is_repeatable


@pytest.mark.parametrize(("value", "is_inside"), [
    (0.99, False), (1.0, True), (1.5, True), (2.0, True), (2.01, False)])
def test_both_ends_belong_to_the_spread(value, is_inside):
    assert spread_of([1.0, 2.0]).holds(value) is is_inside
