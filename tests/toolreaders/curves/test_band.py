"""The band of a baseline's repeats: chance leaves it for a step, another run for a stretch."""

import pytest
from numpy import arange, exp, random

from tests.assessments.conftest import curve
from toolreaders.curves.alignment import align
from toolreaders.curves.band import band_of

STEPS = arange(1, 401)
FALL = 2 + 5 * exp(-STEPS / 100)


def run(seed: int, *, shift=0.0, first=0, last=400):
    """Loss with noise; between two places it is moved up."""
    losses = FALL * (1 + 0.01 * random.default_rng(seed).standard_normal(400))
    losses[first:last] += shift
    return curve(losses)


@pytest.fixture(scope="module")
def band():
    return band_of([align(run(0), run(seed)) for seed in (1, 2)])


def found(band, candidate):
    return band.finding(align(run(0), candidate))


def test_fewer_than_three_runs_make_no_band():
    assert band_of([align(run(0), run(1))]) is None
    assert band_of([align(run(0), curve(FALL, first=5000)), align(run(0), run(1))]) is None


def test_a_run_of_the_same_kind_stays_although_half_its_steps_lie_outside(band):
    candidate = run(7)
    outside = ((candidate.losses > band.high) | (candidate.losses < band.low)).mean()
    assert outside > 0.3
    assert found(band, candidate)["code"] == "band_kept"


def test_one_that_is_moved_up_leaves_it_for_good(band):
    left = found(band, run(7, shift=0.5, first=200))
    assert left["code"] == "band_left"
    assert 198 <= left["step"] <= 201


def test_one_that_comes_back_is_said_to_be_back(band):
    left = found(band, run(7, shift=0.5, first=200, last=300))
    assert left["code"] == "band_left_and_back"
    assert (left["runs"], left["stretch"]) == (3, band.least_stretch)
    assert 300 <= left["back"] <= 303


def test_what_a_repeat_does_itself_is_no_leaving():
    band = band_of([align(run(0), run(1)), align(run(0), run(2, shift=0.5, first=100, last=140))])
    assert band.usual_stretch >= 40
    assert found(band, run(7, shift=0.9, first=200, last=230))["code"] == "band_kept"


def test_a_candidate_with_few_common_steps_tells_nothing(band):
    assert found(band, curve(FALL[:9])) is None
