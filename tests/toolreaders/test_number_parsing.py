import pytest

from toolreaders.number_parsing import whole_number


@pytest.mark.parametrize("text", [None, "", "-1", "+1", " 1", "1_0", "1.0", "²", "٣", "1" * 16])
def test_what_is_no_plain_number_is_none(text):
    assert whole_number(text) is None


def test_digits_are_read_as_they_stand():
    assert (whole_number("007"), whole_number("9" * 15)) == (7, 10**15 - 1)
    assert (whole_number("12", digits=2), whole_number("123", digits=2)) == (12, None)
