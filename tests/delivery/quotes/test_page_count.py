"""The quotation of the sample engagement in print: no page is left for two lines and the totals."""

import io
from decimal import Decimal

import pypdf
import pytest

from delivery.demo.sample_firm import SAMPLE
from delivery.demo.sample_setup import load_sample
from delivery.quotes import services
from delivery.quotes.models import PriceLine, RateCard
from delivery.quotes.rendering import quote_pdf
from engagements.models import User

pytestmark = [pytest.mark.slow, pytest.mark.django_db]


@pytest.fixture
def quote():
    """All resources and services of the standard price list, with a discount."""
    engagement = load_sample()
    sales, card = User.objects.get(username="sales"), RateCard.objects.order_by("pk").first()
    made = services.create_quote(actor=sales, engagement=engagement)
    services.add_resources(actor=sales, quote=made, card=card, months=Decimal(3))
    for price, days in zip(PriceLine.objects.filter(
            card=card, unit="person_day").exclude(code="S-RUN"), SAMPLE.quoted,
                           strict=True):
        services.add_line(actor=sales, quote=made, price=price, quantity=Decimal(days))
    made.refresh_from_db()
    services.update_quote(actor=sales, quote=made, discount_rate=Decimal("0.05"),
                          discount_reason="框架协议客户")
    made.refresh_from_db()
    return made


@pytest.mark.parametrize(("language", "total"), [
    ("zh-hans", "价税合计"), ("en", "Total including tax")])
def test_the_totals_stand_on_the_second_page_of_the_lines(quote, language, total):
    pages = [page.extract_text() for page in pypdf.PdfReader(
        io.BytesIO(quote_pdf(quote, language))).pages]
    assert len(pages) == 4
    assert total in pages[2]
