"""A price list, a firm with particulars, and quotes in several states."""

from decimal import Decimal

import pytest
from django.utils.translation import override

from delivery.documents.models import CompanyProfile
from delivery.quotes import services
from delivery.quotes.models import PriceLine
from engagements.models import Role
from tests.cached_fixtures import cached_fixture


@pytest.fixture
@cached_fixture
def card(people):
    CompanyProfile.objects.create(name="昇腾迁移交付有限公司", name_en="Ascend Migration Ltd.",
                                  credit_code="91350100M000100Y43",
                                  bank="某银行上海分行", bank_account="6222 0000")
    return services.load_rate_cards(actor=people[Role.ADMINISTRATOR])


@pytest.fixture
@cached_fixture
def quote(people, engagement, card):
    """A draft with all resources for three months and ten days of two services."""
    draft = services.create_quote(actor=people[Role.SALES], engagement=engagement)
    services.add_resources(actor=people[Role.SALES], quote=draft, card=card, months=Decimal(3))
    for code in ("S-ASSESS", "S-TRAIN"):
        services.add_line(actor=people[Role.SALES], quote=draft, quantity=Decimal(10),
                          price=PriceLine.objects.get(code=code))
    draft.refresh_from_db()
    return draft


@pytest.fixture
def issue(people):
    """Takes a draft through review and approval to the customer."""
    def through(draft):
        services.submit_quote(actor=people[Role.SALES], quote=draft)
        services.review_quote(actor=people[Role.CONSULTANT], quote=draft)
        services.approve_quote(actor=people[Role.MANAGER], quote=draft)
        return services.issue_quote(actor=people[Role.SALES], quote=draft)
    return through


@pytest.fixture
@cached_fixture
def issued(people, quote, issue):
    services.update_quote(actor=people[Role.SALES], quote=quote, source_note="以各行为准",
                          discount_rate=Decimal("0.05"), discount_reason="框架协议")
    return issue(quote)


@pytest.fixture(autouse=True)
def _in_english():
    """Services speak the active language; the tests read English sentences."""
    with override("en"):
        yield
