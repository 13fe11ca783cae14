"""JSON from outside holds no number that no column holds; figures of a bundle may be infinite."""

import math

import pytest

from bundle_verifier.json_limits import JSONTooComplex, parse_json


@pytest.mark.parametrize("number", ["1e400", "-1e400", "NaN", "Infinity", "9223372036854775808"])
def test_a_number_that_no_column_holds_is_refused(number):
    with pytest.raises(JSONTooComplex):
        parse_json(f'{{"questions": [{{"minimum": {number}}}]}}')


def test_a_figure_of_a_bundle_may_be_infinite():
    assert parse_json('{"figure": Infinity}', may_be_infinite=True) == {"figure": math.inf}
