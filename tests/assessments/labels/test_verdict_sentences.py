"""What people read never contradicts the verdict (AR-18)."""

from decimal import Decimal

import pytest
from django.utils.translation import override
from hypothesis import given
from hypothesis import strategies as st

from assessments.labels.verdict_sentences import sentence
from toolreaders.verdicts.sentences import in_unit, shown

LIMIT = Decimal("0.02")


@pytest.fixture(autouse=True)
def _english():
    with override("en"):
        yield


@pytest.mark.parametrize(("figure", "text"), [
    (0.01996, "1.996 %"), (0.02004, "2.004 %"), (0.0199999, "1.99999 %"), (0.02, "2.000 %"),
    (0.02000000001, "2.000000001 %"), (0.0006173130701456039, "0.0617 %"), (0.0, "0.000 %"),
])
def test_figures_keep_enough_digits(figure, text):
    assert shown(figure, LIMIT, "%") == (text, "2 %")


@given(st.floats(0, 1000), st.decimals(min_value=0, max_value=1000, places=6))
def test_the_text_stands_on_the_same_side_as_the_figure(figure, limit):
    text, limit_text = shown(figure, limit, "")
    assert (Decimal(text) < Decimal(limit_text)) == (Decimal(repr(figure)) < limit)
    assert (Decimal(text) > Decimal(limit_text)) == (Decimal(repr(figure)) > limit)


def test_a_threshold_in_its_unit():
    assert [in_unit(LIMIT, "%"), in_unit(Decimal("9.90"), "ms"), in_unit(Decimal("100"), "/s")] == [
        "2 %", "9.9 ms", "100/s"]


def test_the_sentence_of_a_failure_names_figure_and_limit():
    text = sentence("failed", "threshold_missed", 0.02004, LIMIT, "lt", "%",
                    {"common_points": 1000})
    assert text == "Failed: 2.004 % over 1000 steps; limit is below 2 %."


def test_the_sentence_of_a_nan_names_the_first_step():
    text = sentence("failed", "nonfinite", 0.0, LIMIT, "lt", "%",
                    {"nonfinite": 1261, "first_nonfinite_step": 1740})
    assert text == ("1261 steps hold a value that is not finite, the first is step 1740: "
                    "not passed.")
