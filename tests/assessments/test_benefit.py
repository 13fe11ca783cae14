"""Gain × card hours × price: each factor with its origin, and unknown where one is missing."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override

from delivery.quotes import services as quoting
from delivery.quotes.benefit import benefits_of
from delivery.quotes.models import PriceLine
from delivery.reports.facts.benefits import benefits
from delivery.reports.facts.source import Source
from delivery.reports.models import Document
from engagements.models import MigratedModel, Role
from tests.delivery.conftest import api_client
from workers.models import CardLease


@pytest.fixture
def prices(people):
    return quoting.load_rate_cards(actor=people[Role.ADMINISTRATOR])


@pytest.fixture
def tuned(model, run, record):
    """500 ms a step, then 400 ms: a quarter more throughput, a fifth of the time."""
    MigratedModel.objects.filter(pk=model.pk).update(cards=8)
    record(run(500, cards=8))
    record(run(400, cards=8))
    return MigratedModel.objects.get(pk=model.pk)


def test_a_month_on_the_models_cards(tuned, prices):
    [found] = benefits_of(tuned)
    assert (found.saved.quantize(Decimal("0.0001")), found.hours) == (Decimal("0.2"), 8 * 730)
    assert found.amount == Decimal("9000.00")  # a fifth of 45,000 a month for eight cards
    with override("en"):
        assert "20.0 % of the time" in found.gain_sentence
        assert found.hours_sentence == "8 cards × 730 h a month = 5,840 h"
        assert "45,000.00 / (8 × 730 h) = 7.71 CNY" in found.price_sentence
        assert found.amount_sentence == "9,000.00 CNY a month"


def test_hours_that_its_jobs_held_stand_beside(tuned, prices):
    job = tuned.jobs.first()
    now = timezone.now()
    for card in range(2):
        CardLease.objects.create(node=job.node, job=job, card_index=card, fence=card,
                                 taken_at=now - timedelta(hours=5), released_at=now)
    planned, used = benefits_of(tuned)
    assert (planned.is_planned, used.is_planned, used.hours) == (True, False, 10)
    assert used.amount == Decimal("15.41")  # 0.2 × 10 h × 7.705…
    with override("en"):
        assert used.amount_sentence == "15.41 CNY so far"


def test_what_is_unknown_says_so(model, tuned, prices, people):
    PriceLine.objects.filter(code="BMS").update(specification="8 GPU")
    [found] = benefits_of(tuned)
    assert (found.amount, found.price) == (None, None)
    MigratedModel.objects.filter(pk=model.pk).update(cards=None)
    tuned.optimisation_rounds.all().delete()
    [found] = benefits_of(MigratedModel.objects.get(pk=model.pk))
    with override("en"):
        assert [text.partition(":")[0] for text in (
            found.gain_sentence, found.hours_sentence, found.price_sentence)] == ["unknown"] * 3


def test_two_prices_of_a_card_hour_are_none(tuned, prices):
    server = PriceLine.objects.get(code="BMS")
    server.pk, server.code, server.unit_price = None, "BMS2", 50000
    server.save()
    [found] = benefits_of(tuned)
    assert found.price is None
    assert prices.name in found.price_sentence


def test_page_api_and_report_show_the_same(client, tuned, prices, people):
    page = reverse("assessments:model_performance", args=[tuned.pk])
    client.force_login(people[Role.CONSULTANT])
    assert "9,000.00 CNY" in client.get(page).content.decode()
    client.force_login(people[Role.REVIEWER])
    assert "9,000.00" not in client.get(page).content.decode()
    api, address = api_client(people[Role.CONSULTANT]), "/api/v1/learning/benefits/"
    [row] = api.get(address, {"engagement": tuned.engagement.code}).json()
    assert (row["amount"], row["saved"], row["per_hour"]) == ("9000.00", "0.2000", "7.7055")
    assert api_client(people[Role.REVIEWER]).get(
        address, {"engagement": tuned.engagement.code}).status_code == 403
    source = Source(Document(engagement=tuned.engagement, kind="AS"))
    assert benefits(source)["rows"][0][-1]["zh-hans"] == "每月 9,000.00 CNY"
