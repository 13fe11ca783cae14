"""Quotes in yuan, dollars and euros: every place that adds them up says the same to the cent."""

import io
import random
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

import pytest
from django.urls import reverse
from django.utils import timezone
from openpyxl import load_workbook
from pypdf import PdfReader

from delivery.quotes import services as quoting
from delivery.quotes.models import Quote
from delivery.quotes.money import Money, sum_in_yuan
from delivery.quotes.outcomes import outcomes_of
from delivery.quotes.rendering import quote_pdf
from engagements import services as engaging
from engagements.models import Role
from tests.cached_fixtures import cached_fixture
from tests.delivery.quotes.conftest import card, issue  # noqa: F401

RATES = {"CNY": Decimal(1), "USD": Decimal("7.1234"), "EUR": Decimal("8.0567")}
CENT = Decimal("0.01")


@pytest.fixture
@cached_fixture
def accepted(people, engagement, card, issue):  # noqa: F811
    """Nine engagements with a quote each, three in each currency, of figures drawn by chance."""
    chance, found = random.Random(20260330), []
    team = [people[role] for role in (Role.SALES, Role.CONSULTANT, Role.REVIEWER)]
    for n, currency in enumerate(sorted(RATES) * 3):
        own = engaging.create_engagement(
            actor=people[Role.MANAGER], code=f"CUR{n}", name=f"币种 {n}", team=team,
            customer=engagement.customer)
        quote = quoting.create_quote(actor=people[Role.SALES], engagement=own, currency=currency,
                                     exchange_rate=RATES[currency])
        for _line in range(chance.randint(1, 4)):
            quoting.add_free_line(
                actor=people[Role.SALES], quote=quote, name="服务", unit="person_day",
                grade="senior", quantity=Decimal(chance.randint(1, 9_999)) / 100,
                unit_price=Decimal(chance.randint(1, 99_999_999)) / 10_000,
                tax_rate=Decimal("0.06"))
        quote.refresh_from_db()
        quoting.update_quote(actor=people[Role.SALES], quote=quote, source_note="以各行为准")
        quote.refresh_from_db()
        issue(quote)
        found.append(quoting.answer_quote(actor=people[Role.REVIEWER], quote=quote,
                                          is_accepted=True))
    return found


def yuan_of(quote: Quote) -> Decimal:
    """Net of the stored lines in yuan, worked out without the product's own arithmetic."""
    net = sum((line.quantity * line.unit_price).quantize(CENT, ROUND_HALF_UP)
              for line in quote.lines.all())
    return (net * RATES[quote.currency]).quantize(CENT, ROUND_HALF_UP)


def test_page_export_api_and_outcomes_agree_to_the_cent(client, people, accepted):
    total = sum(map(yuan_of, accepted))
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    client.force_login(people[Role.MANAGER])
    rows = client.get("/api/v1/portfolio/?q=CUR").json()
    amounts = {row["code"]: Decimal(row["quoted_amount"]) for row in rows}
    assert amounts == {quote.engagement.code: yuan_of(quote) for quote in accepted}
    page = client.get(reverse("portal:portfolio"), {"q": "CUR", "group": "customer"})
    [group] = page.context["groups"]
    assert group.totals["quoted"] == total
    assert f"{total:,.2f}" in page.content.decode()
    sent = b"".join(client.get(reverse("portal:portfolio_export"),
                               {"q": "CUR"}).streaming_content)
    heads, *lines = load_workbook(io.BytesIO(sent)).active.iter_rows(values_only=True)
    cells = {line[0]: dict(zip(heads, line, strict=True)) for line in lines if line[0]}
    for quote in accepted:
        row = cells[quote.engagement.code]
        assert Decimal(str(row["Quoted (CNY, excl. tax)"])) == yuan_of(quote)
        rate = f"{quote.currency} {RATES[quote.currency]} ({quote.quote_date})"
        assert row["Exchange rates"] == (None if quote.currency == "CNY" else rate)
    outcomes = outcomes_of(people[Role.MANAGER], timezone.localdate().year)[0]
    assert (outcomes.won, outcomes.amount, outcomes.unpriced) == (len(accepted), total, 0)


@pytest.mark.slow
def test_the_pdf_prints_the_sum_that_is_counted(accepted):
    for quote in accepted[:3]:
        pages = PdfReader(io.BytesIO(quote_pdf(quote, "en"))).pages
        printed = "".join(page.extract_text() for page in pages)
        assert f"{Decimal(quote.snapshot['totals']['net']):,.2f}" in printed


@pytest.mark.parametrize(("amounts", "total"), [
    ([("0.005", "1"), ("0.005", "1")], "0.02"),  # each to the cent first
    ([("1", "7.1234"), ("1", "8.0567"), ("1", "1")], "16.18"), ([], "0")])
def test_sums_are_of_cents(amounts, total):
    money = [Money(Decimal(amount), "XXX", Decimal(rate), date(2026, 3, 30))
             for amount, rate in amounts]
    assert sum_in_yuan(money) == Decimal(total)


def test_a_sum_with_an_unknown_rate_is_unknown():
    unknown = Money(Decimal(1), "USD", None, date(2026, 3, 30))
    assert (sum_in_yuan([unknown]), unknown.yuan, unknown.conversion) == (None, None, None)
