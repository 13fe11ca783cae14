"""Words back to figures, English words, and the check character of credit codes."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delivery.documents.models.company import is_credit_code
from delivery.quotes.money import amount_in_english, amount_in_words, figure_of_words
from engagements.errors import InvalidInput


@given(st.integers(min_value=0, max_value=10**14 - 1))
def test_words_lead_back_to_the_figure(cents):
    figure = Decimal(cents) / 100
    assert figure_of_words(f"人民币{amount_in_words(figure)}") == figure


@pytest.mark.parametrize(("words", "figure"), [
    ("人民币壹仟陆佰捌拾元叁角贰分", "1680.32"), ("壹仟肆佰零玖元伍角", "1409.50"),
    ("壹佰圆正", "100"), ("壹拾万柒仟元伍角叁分", "107000.53"),
    ("壹拾万零柒仟元零伍角叁分", "107000.53")])
def test_optional_forms_are_understood(words, figure):
    assert figure_of_words(words) == Decimal(figure)


@pytest.mark.parametrize("words", ["", "一百元整", "拾伍元整", "100元", "壹佰", "壹元贰元"])
def test_other_words_are_refused(words):
    with pytest.raises(InvalidInput):
        figure_of_words(words)


@pytest.mark.parametrize(("amount", "words"), [
    ("0", "zero yuan and 00/100"), ("15.05", "fifteen yuan and 05/100"),
    ("88342.75", "eighty-eight thousand three hundred forty-two yuan and 75/100"),
    ("100000000.00", "one hundred million yuan and 00/100"),
    ("1000000020.10", "one billion twenty yuan and 10/100")])
def test_amount_in_english(amount, words):
    assert amount_in_english(Decimal(amount)) == words


def test_credit_code_has_a_check_character():
    """The first is the example of GB 32100-2015; the others differ in one character."""
    assert is_credit_code("91350100M000100Y43")
    assert not is_credit_code("91350100M000100Y44")
    assert not is_credit_code("91350100M000100Y4")
    assert not is_credit_code("91350100M000100I43")
