"""Endpoints of a draft's free lines, payment, conditions, margin and history, and of the firm."""

from decimal import Decimal
from types import SimpleNamespace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from delivery.documents.models import CompanyProfile
from delivery.planning.services.time_entries import set_grade_cost
from delivery.quotes import services, standard_conditions
from delivery.quotes.models import DiscountLimit, Quote
from delivery.quotes.serializers import QuoteLineSerializer
from delivery.quotes.snapshot import facts_of
from engagements.models import Role

LINE = {"category": "other", "name": "现场培训", "unit": "once", "quantity": "1",
        "unit_price": "5000", "tax_rate": "0.06"}


@pytest.fixture
def url(quote):
    return f"/api/v1/quotes/{quote.pk}/{{}}/".format


def test_a_line_of_its_own(api, outside, quote, url):
    endpoint, before = url("free-lines"), quote.lines.count()
    assert outside.post(endpoint, LINE).status_code == 404
    assert api(Role.CONSULTANT).post(endpoint, LINE).status_code == 403
    answer = api(Role.SALES).post(endpoint, {**LINE, "revision": quote.revision})
    assert answer.status_code == 201, answer.json()
    assert answer.json()["lines"][-1]["name"] == "现场培训"
    late = api(Role.SALES).post(endpoint, {**LINE, "revision": quote.revision})
    assert (late.status_code, late.json()["title"]) == (409, "changed_meanwhile")
    assert quote.lines.count() == before + 1
    for impossible in ({"unit_price": "-1"}, {"tax_rate": "1"}, {"quantity": "0"}):
        assert api(Role.SALES).post(endpoint, {**LINE, **impossible}).status_code == 400
    assert quote.lines.count() == before + 1


def test_payment_and_staffing(api, outside, quote, url):
    endpoint = url("payment")
    data = {"payment_terms": [{"name": "签约", "percent": "33.30", "days": 10},
                              {"name": "终验", "percent": "66.70"}], "revision": quote.revision}
    assert outside.put(endpoint, data, format="json").status_code == 404
    assert api(Role.CONSULTANT).put(endpoint, data, format="json").status_code == 403
    wrong = api(Role.SALES).put(endpoint, {"payment_terms": [{"name": "x", "percent": "101"}]},
                                format="json")
    assert (wrong.status_code, wrong.json()["detail"]) == (
        400, "payment_terms[0].percent: Ensure this value is less than or equal to 100.")
    assert api(Role.SALES).put(endpoint, data, format="json").status_code == 200
    assert api(Role.SALES).put(endpoint, data, format="json").status_code == 409
    staff = {"staffing": [{"grade": "expert", "people": 1, "days": "2.50"}]}
    shown = api(Role.SALES).put(endpoint, staff, format="json").json()
    assert shown["staffing"] == [{"grade": "expert", "people": 1, "days": "2.5"}]
    assert [(row["name"], row["percent"]) for row in shown["payment_terms"]] == [
        ("签约", "33.3"), ("终验", "66.7")]


def test_conditions(api, outside, quote, url):
    endpoint = url("conditions")
    data = {"conditions": {"warranty": {"zh": "六个月。", "en": "Six months."}},
            "revision": quote.revision}
    assert outside.put(endpoint, data, format="json").status_code == 404
    assert api(Role.OPERATOR).put(endpoint, data, format="json").status_code == 403
    shown = api(Role.SALES).put(endpoint, data, format="json").json()["conditions"]
    assert shown["warranty"] == {"zh": "六个月。", "en": "Six months."}
    assert shown.keys() == standard_conditions.TITLES.keys()
    assert shown["scope"] == {"zh": "", "en": ""}
    assert api(Role.SALES).put(endpoint, data, format="json").status_code == 409


def test_margin_and_history_stay_within_the_firm(api, outside, issued, url):
    assert outside.get(url("margin")).status_code == 404
    assert api(Role.REVIEWER).get(url("margin")).status_code == 403
    assert api(Role.CONSULTANT).get(url("margin")).status_code == 403
    assert api(Role.SALES).get(url("margin")).status_code == 403
    assert api(Role.MANAGER).get(url("margin")).json()["unknown"] == issued.lines.count()
    assert api(Role.REVIEWER).get(url("history")).status_code == 403
    seen = api(Role.CONSULTANT).get(url("history")).json()
    assert (seen[0]["action"], seen[-1]["action"]) == ("quote.issue", "quote.create")


def test_person_days_cost_what_their_grade_costs_and_resources_stay_unknown(
        api, people, quote, url, client):
    days = [line for line in quote.lines.all() if line.unit == "person_day"]
    set_grade_cost(actor=people[Role.ADMINISTRATOR], grade=days[0].grade,
                   day_cost=Decimal("1200"))
    services.update_line(actor=people[Role.SALES], line=days[1], unit_cost=Decimal("777.77"))
    assert api(Role.SALES).get(url("margin")).status_code == 403
    found = api(Role.MANAGER).get(url("margin")).json()
    costs = {row["code"]: (row["cost"], row["source"]) for row in found["lines"] if row["source"]}
    assert costs == {days[0].code: ("12000.00", "grade"), days[1].code: ("7777.70", "line")}
    assert found["unknown"] == quote.lines.count() - 2
    assert found["cost"] == "19777.70"
    page = reverse("quotes:quote", args=[quote.pk])
    client.force_login(people[Role.MANAGER])
    text = client.get(page, headers={"accept-language": "en"}).content.decode()
    assert text.count("cost unknown") == found["unknown"]
    for role in (Role.CONSULTANT, Role.SALES):  # from price and margin a grade's cost is computed
        client.force_login(people[role])
        text = client.get(page, headers={"accept-language": "en"}).content.decode()
        assert "cost unknown" not in text
        assert "12,000.00" not in text


def test_the_firm_and_its_discount_limits(api, card):
    endpoint = "/api/v1/document-company/"
    assert api(Role.REVIEWER).get(endpoint).status_code == 403
    assert "limits" not in api(Role.MANAGER).get(endpoint).json()
    raised = {"limits": {"manager": "0.15"}}
    assert api(Role.MANAGER).post(endpoint, raised, format="json").status_code == 403
    for wrong in ("1.5", "-0.1"):
        answer = api(Role.ADMINISTRATOR).post(
            endpoint, {"limits": {"manager": wrong}}, format="json")
        assert (answer.status_code, list(answer.json()["errors"])) == (400, ["limits"])
    seen = api(Role.ADMINISTRATOR).post(endpoint, raised, format="json").json()
    assert seen["limits"] == {"manager": "0.1500", "administrator": "0.5000"}
    assert str(DiscountLimit.objects.get(role="manager").rate) == "0.1500"
    assert CompanyProfile.current().name == "昇腾迁移交付有限公司"  # what is left out stays


def test_the_list_reads_the_totals_of_all_quotes_together(api, people, quote, issue,
                                                          django_assert_num_queries):
    def totals(answer):
        return {row["id"]: row["totals"] for row in answer.json()["results"]}

    sales = api(Role.SALES)
    with CaptureQueriesContext(connection) as one:
        sales.get("/api/v1/quotes/")
    services.create_quote(actor=people[Role.SALES], engagement=quote.engagement)
    services.update_quote(actor=people[Role.SALES], quote=quote, source_note="x")
    issue(quote)
    newer = services.new_version(actor=people[Role.SALES], quote=quote, reason="x")
    with django_assert_num_queries(len(one) + 1):  # what is frozen is read from its snapshots
        shown = totals(sales.get("/api/v1/quotes/"))
    for pk, found in shown.items():
        facts = facts_of(Quote.objects.get(pk=pk))
        assert found == {**facts["totals"], "words": facts["words"],
                         "currency": facts["currency"]}
        assert found == sales.get(f"/api/v1/quotes/{pk}/").json()["totals"]
    assert len(shown) == 3
    lines = sales.get(f"/api/v1/quotes/{newer.pk}/").json()["lines"]
    context = {"request": SimpleNamespace(user=people[Role.SALES])}
    assert lines == QuoteLineSerializer(newer.lines.all(), many=True, context=context).data
    hidden = api(Role.CONSULTANT).get(f"/api/v1/quotes/{newer.pk}/").json()["lines"]
    assert all("unit_cost" not in line for line in hidden)
