"""The quotation in print: its totals never stand alone on a page."""

import io
from decimal import Decimal

import pytest
from django.urls import reverse
from pypdf import PdfReader

from delivery.documents.models import CompanyProfile
from delivery.documents.pdf import html_of
from delivery.quotes import rendering
from delivery.quotes.models import QuoteLine
from delivery.quotes.snapshot import snapshot
from delivery.quotes.templatetags.quotes import unit_amount
from engagements.models import Role

COUNTS = (21, 22, 28)  # where they would move over to another page without a line


def page_texts(quote, lines, language):
    """The text of each page, without line ends."""
    quote.snapshot, quote.content_hash = snapshot(quote, lines), "0" * 64
    pages = PdfReader(io.BytesIO(rendering.quote_pdf(quote, language))).pages
    return ["".join(page.extract_text().split()) for page in pages]


def numbered(quote, count):
    return [QuoteLine(quote=quote, position=n, category="resource", name=f"LINE{n:03}", code="S",
                      unit="person_day", quantity=Decimal(1), months=Decimal(1),
                      unit_price=Decimal(100)) for n in range(count)]


def test_a_quote_of_a_practice_engagement_bears_the_mark(quote, monkeypatch):
    monkeypatch.setattr(rendering, "render_pdf", html_of)
    assert "PRACTICE DATA" not in rendering.quote_pdf(quote, "en")
    quote.engagement.has_practice_data = True
    assert "PRACTICE DATA" in rendering.quote_pdf(quote, "en")


def test_contacts_and_addresses_stand_in_the_documents_language(quote, monkeypatch):
    monkeypatch.setattr(rendering, "render_pdf", html_of)
    customer = quote.engagement.customer
    customer.contact_name, customer.contact_name_en = "陈国栋", "Chen Guodong"
    customer.address, customer.address_en = "北京市", "Beijing"
    CompanyProfile.objects.update(contact_name="何嘉", contact_name_en="He Jia")
    chinese, english = (rendering.quote_pdf(quote, language) for language in ("zh-hans", "en"))
    for one, other in (("陈国栋", "Chen Guodong"), ("北京市", "Beijing"), ("何嘉", "He Jia")):
        assert (one in chinese, other in chinese) == (True, False)
        assert (one in english, other in english) == (False, True)


@pytest.mark.slow
def test_totals_follow_a_line_on_their_page(quote):
    """Where they move over to another page, the last two lines go with them."""
    pages_of_totals = set()
    for count in COUNTS:
        pages = page_texts(quote, numbered(quote, count), "zh-hans")
        [page] = [n for n, text in enumerate(pages) if "不含税合计" in text]
        assert f"LINE{count - 1:03}" in pages[page], count
        assert count < 2 or f"LINE{count - 2:03}" in pages[page], count
        pages_of_totals.add(page)
    assert len(pages_of_totals) > 1  # the totals moved over to another page on the way


def test_terms_that_nobody_changed_stay_as_they_were(client, people, quote):
    """Browsers end the lines of a text area with a carriage return and a line feed."""
    client.force_login(people[Role.SALES])
    url = reverse("quotes:conditions", args=[quote.pk])
    quote.conditions = {**quote.conditions, "scope": {"zh": "甲\n乙", "en": "first\nsecond"}}
    quote.save()
    form = client.get(url).context["form"]
    sent = {name: form[name].value() or "" for name in form.fields}
    before = quote.conditions
    client.post(url, {name: f"{value}".replace("\n", "\r\n") for name, value in sent.items()})
    quote.refresh_from_db()
    assert (quote.conditions, quote.revision) == (before, sent["revision"] + 1)


@pytest.mark.parametrize(("price", "printed"), [
    ("1234.5678", "1,234.5678"), ("1234.5000", "1,234.50"), ("1000", "1,000.00"),
    ("0.1250", "0.125"), (None, "--")])
def test_a_unit_price_prints_the_digits_that_multiply(price, printed):
    assert unit_amount(price) == printed
