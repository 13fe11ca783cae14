"""A curve that is off by many powers of ten is judged like any other."""

from decimal import Decimal

import pytest

from toolreaders.verdicts.sentences import shown


@pytest.mark.parametrize("figure", [1.5e26, 1e91, 1.7e308])
def test_a_huge_figure_is_shown(figure):
    text, limit = shown(figure, Decimal("0.02"), "%")
    assert (Decimal(text.split()[0].rstrip("%")), limit.split()[0].rstrip("%")) == (
        Decimal(repr(figure)) * 100, "2")
