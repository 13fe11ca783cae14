"""REST endpoints of a quote's documents, of all resources of a price list, and of ending one."""

from io import BytesIO

import openpyxl
import pytest

from engagements.models import Role


@pytest.mark.slow
@pytest.mark.parametrize("language", ["zh-hans", "en"])
def test_a_quote_s_papers(api, outside, quote, language):
    url = f"/api/v1/quotes/{quote.pk}/{{}}/?language={language}"
    for kind in ("pdf", "xlsx"):
        assert outside.get(url.format(kind)).status_code == 404
        assert api(Role.REVIEWER).get(url.format(kind)).status_code == 404  # a draft
    assert api(Role.SALES).get(url.format("pdf")).content[:5] == b"%PDF-"
    book = openpyxl.load_workbook(BytesIO(api(Role.SALES).get(url.format("xlsx")).content))
    assert any(str(cell.value).startswith("=SUM") or str(cell.value).startswith("=ROUND")
               for row in book.worksheets[0].iter_rows() for cell in row)


def test_all_resources_of_a_price_list(api, outside, quote, card):
    url, data = f"/api/v1/quotes/{quote.pk}/resources/", {"card": card.pk, "months": "3"}
    before = quote.lines.count()
    assert outside.post(url, data, format="json").status_code == 404
    assert api(Role.CONSULTANT).post(url, data, format="json").status_code == 403
    assert api(Role.SALES).post(url, data, format="json").status_code == 201
    listed = card.lines.filter(category="resource")
    added = quote.lines.filter(code__in=listed.values("code"), category="resource")
    assert quote.lines.count() - before == listed.count() > 0
    assert set(added.values_list("months", flat=True)) == {3}


def test_the_end_of_a_price_list(api, card):
    url, data = f"/api/v1/rate-cards/{card.pk}/close/", {"valid_to": "2099-12-31"}
    assert api(Role.REVIEWER).post(url, data, format="json").status_code == 404
    assert api(Role.CONSULTANT).post(url, data, format="json").status_code == 403
    early = api(Role.SALES).post(url, {"valid_to": "1999-01-01"}, format="json")
    assert (early.status_code, "cannot end before" in str(early.json())) == (400, True)
    answer = api(Role.SALES).post(url, data, format="json")
    assert (answer.status_code, answer.json()["valid_to"]) == (200, "2099-12-31")
