"""Amounts, taxes, milestones and words, against the vectors of the domain reference."""

from decimal import Decimal

import pytest

from delivery.quotes.money import (
    amount_in_words,
    line_amounts,
    split,
    totals,
    totals_by_rate,
    without_tax,
)
from engagements.errors import InvalidInput

WORDS = {
    "0": "零元整", "0.05": "伍分", "0.53": "伍角叁分", "100.50": "壹佰元零伍角整",
    "1000100": "壹佰万零壹佰元整", "10010000": "壹仟零壹万元整",
    "1010010": "壹佰零壹万零壹拾元整", "100000001": "壹亿零壹元整",
    "10000000000": "壹佰亿元整", "100000000001.01": "壹仟亿零壹元零壹分",
    "1000000.01": "壹佰万元零壹分",
    "123456789.01": "壹亿贰仟叁佰肆拾伍万陆仟柒佰捌拾玖元零壹分",
    "88342.75": "捌万捌仟叁佰肆拾贰元柒角伍分", "92414.45": "玖万贰仟肆佰壹拾肆元肆角伍分",
    "4071.70": "肆仟零柒拾壹元柒角整", "100": "壹佰元整", "1409.50": "壹仟肆佰零玖元伍角整",
    "6007.14": "陆仟零柒元壹角肆分", "1680.32": "壹仟陆佰捌拾元零叁角贰分",
    "107000.53": "壹拾万柒仟元零伍角叁分", "16409.02": "壹万陆仟肆佰零玖元零贰分",
    "325.04": "叁佰贰拾伍元零肆分", "15": "壹拾伍元整", "100500": "壹拾万零伍佰元整",
}


@pytest.mark.parametrize(("amount", "words"), WORDS.items())
def test_amount_in_words(amount, words):
    assert amount_in_words(Decimal(amount)) == words


@pytest.mark.parametrize("amount", ["-1", "1000000000000"])
def test_words_refuse_what_they_cannot_say(amount):
    with pytest.raises(InvalidInput):
        amount_in_words(Decimal(amount))


def test_milestones_sum_exactly_and_the_last_takes_the_rest():
    parts = split(Decimal("88342.75"), [Decimal(30), Decimal(40), Decimal(30)])
    assert parts == [Decimal("26502.83"), Decimal("35337.10"), Decimal("26502.82")]


def test_milestones_of_another_sum_are_refused():
    with pytest.raises(InvalidInput):
        split(Decimal(100), [Decimal(30), Decimal(60)])


@pytest.mark.parametrize(("gross", "net", "tax"), [("100000", "94339.62", "5660.38"),
                                                   ("530000", "500000.00", "30000.00")])
def test_tax_inside_an_amount(gross, net, tax):
    assert without_tax(Decimal(gross), Decimal("0.06")) == (Decimal(net), Decimal(tax))


def test_lines_are_rounded_once_each():
    rate = Decimal("0.06")
    prices = ["1171.22", "1171.22", "1171.22", "999.99"]
    lines = [line_amounts(Decimal(1), Decimal(1), Decimal(p), rate) for p in prices]
    assert totals(lines).tax == Decimal("270.81")


def test_discount_is_the_difference_of_both_sums():
    line = line_amounts(Decimal(3), Decimal(2), Decimal("33.33"), Decimal("0.06"), Decimal("0.1"))
    found = totals([line])
    assert (found.list_amount, found.net, found.discount) == (
        Decimal("199.98"), Decimal("179.98"), Decimal("20.00"))


def test_tax_per_rate_tells_what_rounding_on_lines_adds():
    rate, reduced = Decimal("0.06"), Decimal("0.03")
    prices = [(rate, "1171.22"), (rate, "1171.22"), (rate, "1171.22"), (rate, "999.99"),
              (reduced, "100.00")]
    [six, three] = totals_by_rate([
        (r, line_amounts(Decimal(1), Decimal(1), Decimal(p), r)) for r, p in prices])
    assert (six.tax, six.tax_on_sum, six.rounding) == (
        Decimal("270.81"), Decimal("270.82"), Decimal("-0.01"))
    assert (three.rate, three.net, three.tax) == (reduced, Decimal("100.00"), Decimal("3.00"))
