"""Fewer points for drawing; every extreme is kept."""

import numpy as np
import pytest

from toolreaders.curves.sampling import MOST_POINTS, drawing_indices


@pytest.mark.parametrize(("count", "stored"), [(0, 0), (1, 1), (10, 10), (11, 11)])
def test_short_curves_stay_whole(count, stored):
    assert drawing_indices(np.arange(float(count)), 11).tolist() == list(range(stored))


def test_of_every_stretch_the_lowest_and_the_highest():
    """Four edges over twelve values: stretches 0-3, 4-7, 8-11 of most // 2 = 4 edges."""
    values = np.array([5, 9, 1, 5, 5, 0, 5, 8, 5, 7, 2, 5], float)
    assert drawing_indices(values, 8).tolist() == [0, 1, 2, 5, 7, 9, 10, 11]


def test_a_stretch_without_a_number_keeps_its_first():
    values = np.array([5, 9, 1, 5, np.nan, np.nan, np.inf, np.nan, 5, 7, 2, 5], float)
    assert drawing_indices(values, 8).tolist() == [0, 1, 2, 4, 9, 10, 11]


def test_what_is_not_finite_is_no_extreme():
    values = np.array([5, np.inf, 1, 6, 5, -np.inf, 4, 8, 5, np.nan, 2, 5], float)
    assert drawing_indices(values, 8).tolist() == [0, 2, 3, 6, 7, 8, 10, 11]


def test_a_spike_of_one_step_is_always_drawn():
    values = np.ones(50_000)
    values[31_337], values[31_400] = 9, -9
    stored = drawing_indices(values)
    assert {0, 31_337, 31_400, 49_999} <= set(stored.tolist())
    assert len(stored) <= MOST_POINTS == 1000
    assert len(drawing_indices(np.arange(1001.0))) <= 1000 < len(np.arange(1001))
