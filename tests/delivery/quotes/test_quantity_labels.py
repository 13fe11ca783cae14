"""How much of a line is quoted, in words of both languages."""

import pytest
from django.utils.translation import override

from delivery.quotes.snapshot import quantity_label

PAGE = "/quotes/{}/"
QUANTITIES = [
    ("month", "5", "3", "5 × 3 months", "5 × 3 个月"),
    ("month", "1", "1", "1 × 1 month", "1 × 1 个月"),
    ("month", "2", "0.5", "2 × 0.5 months", "2 × 0.5 个月"),
    ("person_day", "1", "1", "1 person-day", "1 人天"),
    ("person_day", "12.5", "1", "12.5 person-days", "12.5 人天"),
    ("once", "1", "1", "1 (once)", "1（一次性）"),
]


@pytest.mark.parametrize(("unit", "quantity", "months", "english", "chinese"), QUANTITIES)
def test_a_quantity_stands_with_its_unit(unit, quantity, months, english, chinese):
    fact = {"unit": unit, "quantity": quantity, "months": months}
    for language, expected in (("en", english), ("zh-hans", chinese)):
        with override(language):
            assert quantity_label(fact) == expected


def test_the_page_of_a_quote_says_how_many_months(client, quote, people):
    client.force_login(people["sales"])
    html = client.get(PAGE.format(quote.pk), headers={"accept-language": "en"}).content.decode()
    assert "5 × 3 months" in html
    assert "10 person-days" in html
