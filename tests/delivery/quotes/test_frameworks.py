"""Framework contracts: what is called off holds prices, discount, time and ceiling."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils import timezone

from delivery.quotes import services
from delivery.quotes.frameworks import usage_of
from delivery.quotes.models import FrameworkContract, PriceLine
from delivery.quotes.quote_checks import failed_checks
from delivery.quotes.rendering import quote_pdf
from engagements import services as engaging
from engagements.errors import DeskError, InvalidInput, WrongState
from engagements.models import Customer, Role
from tests.cached_fixtures import cached_fixture

TODAY = timezone.localdate()


@pytest.fixture
@cached_fixture
def contract(people, engagement, card, issued):
    """With the terms of an issued quote, five per cent off, up to 100,000."""
    return services.add_framework(
        actor=people[Role.SALES], customer=engagement.customer, number="FC-2026-1", name="年度框架",
        valid_from=TODAY - timedelta(days=30), valid_to=TODAY + timedelta(days=300), card=card,
        discount_rate=Decimal("0.05"), ceiling=Decimal(100_000), terms=issued)


@pytest.fixture
def call_off(people, engagement, contract):
    def begin(code: str, days: int):
        own = engaging.create_engagement(
            actor=people[Role.MANAGER], code=code, name=code, customer=engagement.customer,
            team=[people[role] for role in (Role.SALES, Role.CONSULTANT, Role.REVIEWER)])
        quote = services.call_off(actor=people[Role.SALES], framework=contract, engagement=own)
        services.add_line(actor=people[Role.SALES], quote=quote, quantity=Decimal(days),
                          price=PriceLine.objects.get(code="S-TRAIN"))
        quote.refresh_from_db()
        services.update_quote(actor=people[Role.SALES], quote=quote, source_note="以各行为准")
        quote.refresh_from_db()
        return quote
    return begin


def broken(quote) -> list[str]:
    return [check.sentence for check in failed_checks(quote) if check.code == "R-QUO-17"]


def test_a_call_off_begins_with_what_was_agreed(contract, call_off, issued):
    quote = call_off("CALL1", 5)
    assert (quote.framework, quote.discount_rate, quote.currency) == (
        contract, Decimal("0.05"), contract.card.currency)
    assert (quote.payment_terms, quote.conditions) == (issued.payment_terms, issued.conditions)
    assert broken(quote) == []


def test_what_is_accepted_is_taken_off_the_ceiling(people, contract, call_off, issue):
    first = issue(call_off("CALL1", 20))
    offered = usage_of([contract])[contract.pk]
    gross = Decimal(first.snapshot["totals"]["gross"])
    assert (offered.accepted, offered.offered, offered.left) == (0, gross, 100_000)
    services.answer_quote(actor=people[Role.REVIEWER], quote=first, is_accepted=True)
    assert usage_of([contract])[contract.pk].left == 100_000 - gross
    second = call_off("CALL2", 40)
    [sentence] = broken(second)
    assert f"{100_000 - gross:,.2f}" in sentence
    with pytest.raises(DeskError):
        services.submit_quote(actor=people[Role.SALES], quote=second)
    # a new version of the first replaces it: what it holds is free for it
    newer = services.new_version(actor=people[Role.SALES], quote=first, reason="增加人天")
    assert (newer.framework, broken(newer)) == (contract, [])


def test_other_prices_and_a_smaller_discount_are_told(people, contract, call_off):
    quote = call_off("CALL1", 2)
    services.add_free_line(actor=people[Role.SALES], quote=quote, name="另行", unit="person_day",
                           code="X-1", grade="senior", quantity=Decimal(1), unit_price=Decimal(9),
                           tax_rate=Decimal("0.06"))
    quote.refresh_from_db()
    services.update_quote(actor=people[Role.SALES], quote=quote, discount_rate=Decimal("0.01"),
                          discount_reason="少")
    quote.refresh_from_db()
    prices, discount = broken(quote)
    assert "X-1" in prices
    assert "5 %" in discount


def test_only_its_customer_in_its_time(people, engagement, contract, card):
    other = engaging.create_engagement(
        actor=people[Role.MANAGER], code="ELSE", name="别家", team=[people[Role.SALES]],
        customer=Customer.objects.create(name="别家"))
    with pytest.raises(InvalidInput):
        services.call_off(actor=people[Role.SALES], framework=contract, engagement=other)
    FrameworkContract.objects.filter(pk=contract.pk).update(valid_to=TODAY - timedelta(days=1))
    contract.refresh_from_db()
    with pytest.raises(WrongState):
        services.call_off(actor=people[Role.SALES], framework=contract, engagement=engagement)


@pytest.mark.parametrize("fields", [
    {"number": "FC-2026-1"}, {"valid_to": TODAY - timedelta(days=400)}, {"ceiling": Decimal(0)},
    {"discount_rate": Decimal(1)}])
def test_what_is_no_contract_is_refused(people, engagement, contract, card, fields):
    with pytest.raises(InvalidInput):
        services.add_framework(**{
            "actor": people[Role.SALES], "customer": engagement.customer, "number": "FC-2",
            "name": "二", "valid_from": TODAY, "card": card, **fields})
    assert FrameworkContract.objects.count() == 1


def test_pages_and_api_lead_from_the_contract_to_the_call_off(
        client, people, engagement, contract, api):
    client.force_login(people[Role.SALES])
    assert "FC-2026-1" in client.get(reverse("quotes:frameworks")).content.decode()
    quotes = reverse("quotes:engagement", args=[engagement.code])
    assert reverse("quotes:call_off", args=[engagement.code]) in client.get(quotes).content.decode()
    client.post(reverse("quotes:call_off", args=[engagement.code]), {"framework": contract.pk})
    page = client.get(reverse("quotes:framework", args=[contract.pk]))
    [quote] = page.context["page"].object_list
    assert quote.engagement == engagement
    client.post(reverse("quotes:framework", args=[contract.pk]), {
        "name": "新名", "valid_to": contract.valid_to, "ceiling": "250000"})
    sales = api(Role.SALES)
    [row] = sales.get("/api/v1/framework-contracts/").json()["results"]
    assert (row["name"], row["ceiling"], row["left"]) == ("新名", "250000.00", "250000.00")
    made = sales.post(f"/api/v1/framework-contracts/{contract.pk}/call-off/",
                      {"engagement": engagement.code}, format="json")
    assert (made.status_code, made.json()["discount_rate"]) == (201, "0.0500")
    assert api(Role.REVIEWER).get("/api/v1/framework-contracts/").json()["results"] == []


def test_the_paper_names_the_contract(contract, call_off, monkeypatch):
    from delivery.documents.pdf import html_of
    from delivery.quotes import rendering

    monkeypatch.setattr(rendering, "render_pdf", html_of)
    assert "FC-2026-1" in quote_pdf(call_off("CALL1", 1), "en")
