"""Sums, taxes and milestones hold for any amounts."""

from decimal import Decimal
from fractions import Fraction
from math import floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delivery.quotes.money import (
    line_amounts,
    split,
    to_cents,
    totals,
    totals_by_rate,
    with_tax,
)

PRICES = st.decimals(min_value=0, max_value=10**6, places=4)
QUANTITIES = st.decimals(min_value="0.01", max_value=1000, places=2)
RATES = st.sampled_from([Decimal(r) for r in ("0", "0.01", "0.03", "0.06", "0.09", "0.13")])
DISCOUNTS = st.decimals(min_value=0, max_value="0.99", places=4)
LINES = st.lists(st.tuples(QUANTITIES, QUANTITIES, PRICES, RATES, st.booleans()), max_size=30)


def amounts(lines, discount):
    return [line_amounts(q, m, p, r, discount, is_tax_included=included)
            for q, m, p, r, included in lines]


@given(LINES, DISCOUNTS)
def test_total_is_the_sum_of_lines_and_net_plus_tax_is_gross(lines, discount):
    found = amounts(lines, discount)
    total = totals(found)
    assert total.net + total.tax == total.gross == sum((a.gross for a in found), Decimal(0))
    assert all(value == to_cents(value) for a in found for value in (a.net, a.tax, a.gross))
    assert total.discount >= 0


@given(LINES, DISCOUNTS)
def test_rates_add_up_to_the_total(lines, discount):
    found = amounts(lines, discount)
    by_rate = totals_by_rate([(line[3], a) for line, a in zip(lines, found, strict=True)])
    assert sum((r.tax for r in by_rate), Decimal(0)) == totals(found).tax
    assert sum((r.net for r in by_rate), Decimal(0)) == totals(found).net


def exact_cents(value: Fraction) -> Decimal:
    """Half up, counted in whole cents: no decimal context has a say."""
    return Decimal(floor(value * 100 + Fraction(1, 2))) / 100


@given(QUANTITIES, QUANTITIES, PRICES, RATES, DISCOUNTS)
def test_a_line_is_what_exact_fractions_give(quantity, months, price, rate, discount):
    """DOMAIN 9.4: net is rounded once, and the tax is that of the rounded net."""
    full = Fraction(quantity) * Fraction(months) * Fraction(price)
    reduced = full * (1 - Fraction(discount))
    line = line_amounts(quantity, months, price, rate, discount)
    net = exact_cents(reduced)
    assert (line.list_amount, line.net, line.tax) == (
        exact_cents(full), net, exact_cents(Fraction(net) * Fraction(rate)))
    inside = line_amounts(quantity, months, price, rate, discount, is_tax_included=True)
    gross = exact_cents(reduced)
    net = exact_cents(Fraction(gross) / (1 + Fraction(rate)))
    assert (inside.list_amount, inside.net, inside.tax) == (
        exact_cents(Fraction(exact_cents(full)) / (1 + Fraction(rate))), net, gross - net)


@pytest.mark.slow
@given(LINES, DISCOUNTS)
def test_the_tax_of_a_rate_tells_what_rounding_once_would_give(lines, discount):
    found = [(line[3], a) for line, a in zip(lines, amounts(lines, discount), strict=True)]
    for row in totals_by_rate(found):
        net = sum((a.net for rate, a in found if rate == row.rate), Decimal(0))
        assert (row.net, row.tax_on_sum) == (
            net, exact_cents(Fraction(net) * Fraction(row.rate)))
        assert row.tax - row.rounding == row.tax_on_sum


@given(PRICES, RATES)
def test_a_price_with_tax_is_shown_to_the_cent(price, rate):
    assert with_tax(price, rate) == exact_cents(Fraction(price) * (1 + Fraction(rate)))


@pytest.mark.slow
@given(PRICES, RATES)
def test_an_inclusive_price_is_the_amount_with_tax(price, rate):
    line = line_amounts(Decimal(1), Decimal(1), price, rate, is_tax_included=True)
    assert line.gross == to_cents(price)
    assert line.net == to_cents(to_cents(price) / (1 + rate))


@given(st.decimals(min_value=0, max_value=10**11, places=2),
       st.lists(st.integers(min_value=1, max_value=30), min_size=1, max_size=8))
def test_milestones_add_up_exactly(total, weights):
    percents = [Decimal(w) for w in weights]
    percents[-1] += 100 - sum(percents)
    if percents[-1] < 0:
        percents = [Decimal(100)]
    parts = split(total, percents)
    assert sum(parts) == total
    assert all(abs(part - total * p / 100) < Decimal("0.01") * len(parts)
               for part, p in zip(parts, percents, strict=True))
