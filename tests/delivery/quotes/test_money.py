"""Amounts, taxes, milestones and words, against the vectors of the domain reference."""

from decimal import Decimal

import pytest

from delivery.quotes.money import (
    LineAmounts,
    amount_in_words,
    line_amounts,
    split,
    to_cents,
    totals,
    totals_by_rate,
    with_tax,
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
    "0.10": "壹角整", "0.01": "壹分", "10.10": "壹拾元零壹角整", "11.10": "壹拾壹元壹角整",
    "11.11": "壹拾壹元壹角壹分", "10.11": "壹拾元零壹角壹分", "1.10": "壹元壹角整",
    "1.005": "壹元零壹分", "0.004": "零元整", "6": "陆元整", "60": "陆拾元整",
    "606": "陆佰零陆元整",
    "660": "陆佰陆拾元整", "6006": "陆仟零陆元整", "6060": "陆仟零陆拾元整", "6600": "陆仟陆佰元整",
    "6066": "陆仟零陆拾陆元整", "9999": "玖仟玖佰玖拾玖元整", "10000": "壹万元整",
    "10001": "壹万零壹元整", "11000": "壹万壹仟元整", "10999": "壹万零玖佰玖拾玖元整",
    "12345678": "壹仟贰佰叁拾肆万伍仟陆佰柒拾捌元整", "99999999": (
        "玖仟玖佰玖拾玖万玖仟玖佰玖拾玖元整"),
    "100000000": "壹亿元整", "100010000": "壹亿零壹万元整", "110000000": "壹亿壹仟万元整",
    "101000000": "壹亿零壹佰万元整", "100001000": "壹亿零壹仟元整", "200000020": "贰亿零贰拾元整",
    "123400005678": "壹仟贰佰叁拾肆亿零伍仟陆佰柒拾捌元整",
    "123456780000": "壹仟贰佰叁拾肆亿伍仟陆佰柒拾捌万元整", "100200030004": (
        "壹仟零贰亿零叁万零肆元整"),
    "500600000000": "伍仟零陆亿元整", "999999999999.99": (
        "玖仟玖佰玖拾玖亿玖仟玖佰玖拾玖万玖仟玖佰玖拾玖元玖角玖分"),
}


@pytest.mark.parametrize(("amount", "words"), WORDS.items())
def test_amount_in_words(amount, words):
    assert amount_in_words(Decimal(amount)) == words


@pytest.mark.parametrize("amount", ["-1", "-0.01", "1000000000000", "999999999999.995",
                                    "2000000000000"])
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


@pytest.mark.parametrize(("value", "cents"), [
    ("0.005", "0.01"), ("0.015", "0.02"), ("0.0049", "0.00"), ("-0.005", "-0.01"),
    ("1", "1.00"), ("2.675", "2.68")])
def test_cents_are_rounded_half_up(value, cents):
    assert str(to_cents(Decimal(value))) == cents


@pytest.mark.parametrize(("included", "expected"), [
    (False, ("60.00", "54.00", "3.24", "57.24")), (True, ("56.60", "50.94", "3.06", "54.00"))])
def test_a_line_by_hand(included, expected):
    """2 × 3 months × 10.00, 10 % off, 6 % tax on top or inside."""
    line = line_amounts(Decimal(2), Decimal(3), Decimal(10), Decimal("0.06"), Decimal("0.1"),
                        is_tax_included=included)
    assert tuple(map(str, (line.list_amount, line.net, line.tax, line.gross))) == expected


def test_a_line_has_no_discount_unless_it_is_given():
    line = line_amounts(Decimal(2), Decimal(3), Decimal(10), Decimal("0.06"))
    assert (line.list_amount, line.net, line.tax) == (60, 60, Decimal("3.60"))


def test_sums_of_lines():
    lines = [LineAmounts(Decimal(10), Decimal(7), Decimal(2)),
             LineAmounts(Decimal(20), Decimal(11), Decimal(3))]
    found = totals(lines)
    assert (found.list_amount, found.net, found.tax, found.discount, found.gross) == (
        30, 18, 5, 12, 23)
    assert [line.gross for line in lines] == [9, 14]
    assert totals([]) == totals(()) == type(found)(*[Decimal(0)] * 3)


def test_rates_from_the_highest_down_each_with_its_own_lines():
    line = LineAmounts(Decimal(10), Decimal(10), Decimal(1))
    found = totals_by_rate([(Decimal(r), line) for r in ("0.06", "0.13", "0.06", "0")])
    assert [(row.rate, row.net, row.tax, row.tax_on_sum, row.rounding) for row in found] == [
        (Decimal("0.13"), 10, 1, Decimal("1.30"), Decimal("-0.30")),
        (Decimal("0.06"), 20, 2, Decimal("1.20"), Decimal("0.80")), (0, 10, 1, 0, 1)]


def test_a_price_with_its_tax():
    assert str(with_tax(Decimal("10.05"), Decimal("0.1"))) == "11.06"


@pytest.mark.parametrize(("total", "percentages", "parts"), [
    ("100", ["100"], ["100"]), ("0.05", ["50", "50"], ["0.03", "0.02"]),
    ("10", ["33.33", "33.33", "33.34"], ["3.33", "3.33", "3.34"]), ("0", ["40", "60"], ["0", "0"])])
def test_milestones(total, percentages, parts):
    assert split(Decimal(total), [*map(Decimal, percentages)]) == [*map(Decimal, parts)]


@pytest.mark.parametrize("percentages", [["99.99"], ["100.01"], ["50", "49.99"], []])
def test_the_sum_of_refused_milestones_is_told(percentages):
    found = sum(map(Decimal, percentages))
    with pytest.raises(InvalidInput, match=f"{found} %"):
        split(Decimal(100), [*map(Decimal, percentages)])


def test_amounts_are_values():
    line = LineAmounts(Decimal(1), Decimal(1), Decimal(0))
    for value in (line, totals([line]), totals_by_rate([(Decimal(0), line)])[0]):
        with pytest.raises(AttributeError):
            value.net = Decimal(2)
