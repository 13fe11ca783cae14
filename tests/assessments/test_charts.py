"""The chart's specification and picture."""

import json
import re
from decimal import Decimal

import altair as alt
import numpy as np
import pytest
from django.utils.translation import override
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import ValidationError

from assessments.charts import as_svg, loss_chart_spec
from tests.assessments.conftest import curve
from toolreaders.curves.alignment import align
from toolreaders.curves.sampling import drawing_indices


def test_a_spike_of_one_step_is_drawn():
    values = np.ones(100_000)
    values[41_234], values[77_001] = 9.0, -9.0
    stored = drawing_indices(values)
    assert len(stored) <= 1000
    assert {0, 41_234, 77_001, 99_999} <= set(stored.tolist())


@given(st.lists(st.one_of(st.floats(-5, 5), st.just(float("nan"))), min_size=1, max_size=400))
def test_extremes_survive_and_order_holds(values):
    array = np.array(values)
    stored = drawing_indices(array, most=40)
    assert (np.diff(stored) > 0).all()
    if np.isfinite(array).any():
        assert np.nanmax(array[stored]) == np.nanmax(array)
        assert np.nanmin(array[stored]) == np.nanmin(array)


@pytest.fixture(scope="module")
def pair():
    losses = np.linspace(4, 2, 3000)
    candidate = losses * 1.01
    candidate[2500:] = np.nan
    return align(curve(losses), curve(candidate))


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_specification_is_json_in_the_active_language(pair, language):
    with override(language):
        text = json.dumps(loss_chart_spec(pair, threshold=Decimal("0.02"), figure=0.01),
                          allow_nan=False)
    assert len(text) < 400_000
    assert "2 %" in text


@pytest.mark.parametrize("is_interactive", [True, False])
def test_the_specification_keeps_to_the_schema(pair, is_interactive):
    spec = loss_chart_spec(pair, threshold=Decimal("0.02"), figure=0.01,
                           is_interactive=is_interactive)
    few = {**spec, "datasets": {}}
    alt.VConcatChart.from_dict(few, validate=True)
    few["vconcat"][0]["layer"][0]["mark"]["strokeWidth"] = "thick"
    with pytest.raises(ValidationError):
        alt.VConcatChart.from_dict(few, validate=True)


@pytest.mark.slow
def test_the_picture_shows_curves_threshold_and_the_first_nan(pair):
    with override("en"):
        svg = as_svg(loss_chart_spec(pair, threshold=Decimal("0.02"), figure=0.01,
                                     is_interactive=False))
    assert set(re.findall('font-family="([^"]*)"', svg)) == {"Noto Sans CJK SC"}
    assert "Not finite from step 2501" in svg
    assert "Threshold 2 %" in svg
    assert "Judged figure" not in svg  # it leaves the NaN steps out and would reassure
