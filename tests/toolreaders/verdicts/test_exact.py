"""Figures in decimal arithmetic, against fractions by hand."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from toolreaders.verdicts.exact import exact_figure, printed

B, N = [4.0, 2.0, 1.0], [5.0, 1.5, 1.0]  # relative errors 1/4, 1/4 and 0
THIRD = Fraction(1, 3)


def exact(name, b=B, n=N, epsilon=0.0):
    return exact_figure(name, np.array(b), np.array(n), epsilon)


@pytest.mark.parametrize(("name", "figure"), [
    ("mean_relative_error", Fraction(1, 6)), ("mean_relative_error_from_step_21", Fraction(1, 6)),
    ("max_relative_error", Fraction(1, 4)), ("mean_absolute_error", Fraction(1, 2)),
    ("relative_error_of_means", Fraction(1, 14)), ("relative_error_last_100", Fraction(1, 14)),
    ("relative_error_first_step", Fraction(1, 4)),
    ("mean_relative_error_epsilon_added", THIRD * (
        1 / (4 + Fraction(1, 10**9)) + Fraction(1, 2) / (2 + Fraction(1, 10**9)))),
])
def test_each_figure_to_forty_five_digits(name, figure):
    found = exact(name)
    assert abs(Fraction(found) - figure) <= abs(figure) / 10**44
    assert len(found.as_tuple().digits) <= 45


def test_digits_of_the_result_are_rounded_once():
    assert str(exact("relative_error_first_step", [3.0], [4.0])) == "0." + 45 * "3"
    assert str(exact("relative_error_first_step", [3.0], [5.0])) == "0." + 44 * "6" + "7"


@pytest.mark.parametrize(("b", "n", "epsilon", "figure"), [
    ([0.0, 1.0], [0.0, 1.5], 0.0, "0.25"), ([0.0], [1.0], 0.0, "Infinity"),
    ([0.0], [1.0], 0.5, "2"), ([0.25], [0.5], 0.5, "0.5"), ([-2.0], [-3.0], 0.0, "0.5"),
    ([-2.0], [2.0], 0.0, "2"), ([1.0], [1.5], 0.5, "0.5")])
def test_the_divisor_is_the_baselines_size_or_epsilon(b, n, epsilon, figure):
    assert exact("mean_relative_error", b, n, epsilon) == Decimal(figure)


@pytest.mark.parametrize(("name", "b", "n"), [
    ("fraction_over_2_percent", B, N), ("nonsense", B, N), ("mean_relative_error", [], []),
    ("relative_error_of_means", [1.0, -1.0], [1.0, 2.0]),
    ("mean_relative_error_smoothed_100", [1.0] * 99, [2.0] * 99)])
def test_what_has_no_figure(name, b, n):
    assert exact(name, b, n) is None


def test_a_negative_mean_is_taken_by_its_size():
    assert exact("relative_error_of_means", [-1.0, -3.0], [-1.0, -4.0]) == Decimal("0.25")
    assert exact("relative_error_of_means", [-1.0, -3.0], [-1.0, -2.0]) == Decimal("0.25")


def test_the_last_hundred_are_the_last_hundred():
    b, n = [1.0] * 150, [9.0] * 50 + [1.0] * 99 + [2.0]
    assert exact("relative_error_last_100", b, n) == Decimal("0.01")


def test_running_means_of_a_hundred():
    """Two windows: the sums are 100 and 101 against 100 and 100."""
    assert exact("mean_relative_error_smoothed_100", [1.0] * 101,
                 [1.0] * 100 + [2.0]) == Decimal("0.005")
    assert exact("mean_relative_error_smoothed_100", [1.0] * 101,
                 [3.0] + [1.0] * 100) == Decimal("0.01")
    assert exact("mean_relative_error_smoothed_100", [1.0] * 100,
                 [1.0] * 99 + [2.0]) == Decimal("0.01")


def test_each_running_sum_goes_on_from_the_last_one():
    assert exact("mean_relative_error_smoothed_100", [1.0] * 103,
                 [1.0] * 100 + [2.0, 1.0, 1.0]) == Decimal("0.0075")


def test_values_count_as_they_are_printed():
    assert printed(np.array([0.1, 1e-7, 5.0])) == [
        Decimal("0.1"), Decimal("1e-7"), Decimal("5.0")]
