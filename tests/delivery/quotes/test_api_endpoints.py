"""Pages and API of quotes: forms, API writes, comparison."""

from decimal import Decimal

import pytest
from django.urls import reverse

from delivery.documents.models import CompanyProfile
from delivery.quotes import services
from delivery.quotes.models import DiscountLimit, Quote
from engagements.errors import NotAllowed
from engagements.models import Role
from engagements.services import add_member, create_engagement


def test_payment_and_staffing_are_saved_together(client, people, quote):
    client.force_login(people[Role.SALES])
    url = reverse("quotes:payment", args=[quote.pk])
    data = {"revision": quote.revision,
            "pay-TOTAL_FORMS": 2, "pay-INITIAL_FORMS": 0, "staff-TOTAL_FORMS": 2,
            "staff-INITIAL_FORMS": 0, "pay-0-name": "签订", "pay-0-percent": "60",
            "pay-1-name": "终验", "pay-1-percent": "40", "pay-1-days": "15",
            "staff-0-grade": "expert", "staff-0-days": "10",
            "staff-1-grade": "senior", "staff-1-days": "10"}
    assert client.get(url).status_code == 200
    assert client.post(url, data).status_code == 302
    stored = Quote.objects.get(pk=quote.pk)
    assert [(t["name"], t["percent"]) for t in stored.payment_terms] == [
        ("签订", "60"), ("终验", "40")]
    assert [e["days"] for e in stored.staffing] == ["10", "10"]
    stale = client.post(url, data)
    assert (stale.status_code, "changed meanwhile" in stale.content.decode()
            or "已被修改" in stale.content.decode()) == (200, True)


def test_written_conditions_reach_the_paper(client, people, quote):
    client.force_login(people[Role.SALES])
    url = reverse("quotes:conditions", args=[quote.pk])
    form = client.get(url).context["form"]
    data = {name: form[name].value() or "" for name in form.fields}
    assert client.post(url, {**data, "warranty_zh": "质保一年"}).status_code == 302
    stored = Quote.objects.get(pk=quote.pk).conditions
    assert stored["warranty"]["zh"] == "质保一年"
    assert stored["travel"]["zh"].startswith("差旅费")


def test_a_line_of_its_own_and_its_change(client, people, quote):
    client.force_login(people[Role.SALES])
    data = {"revision": quote.revision, "category": "other", "name": "驻场支持", "unit": "once",
            "quantity": "2", "months": "1", "unit_price": "1000", "tax_rate": "0.0600"}
    url = reverse("quotes:line_new", args=[quote.pk])
    assert client.post(url, data).status_code == 302
    line = quote.lines.get(name="驻场支持")
    url = reverse("quotes:line_edit", args=[quote.pk, line.pk])
    quote.refresh_from_db()
    assert client.post(url, {**data, "revision": quote.revision, "quantity": "3"}
                       ).status_code == 302
    line.refresh_from_db()
    assert line.quantity == 3
    assert client.post(url, {**data, "quantity": "0", "revision": ""}).status_code == 200


def test_the_firm_s_particulars(client, people, card):
    url = reverse("documents:company")
    client.force_login(people[Role.MANAGER])
    form = {"name": "新公司", "credit_code": "91350100m000100Y43"}
    assert client.post(url, form).status_code == 302
    assert CompanyProfile.current().credit_code == "91350100M000100Y43"
    wrong = client.post(url, {**form, "credit_code": "91350100M000100Y44"})
    assert "GB 32100" in wrong.content.decode()


def test_only_administrators_set_discount_limits(client, people, card):
    url = reverse("quotes:discount_limits")
    client.force_login(people[Role.ADMINISTRATOR])
    assert client.post(url, {"manager": "12", "administrator": "40"}).status_code == 302
    assert DiscountLimit.objects.get(role="manager").rate == Decimal("0.12")
    client.force_login(people[Role.MANAGER])
    assert client.post(url, {"manager": "99"}).status_code == 403
    with pytest.raises(NotAllowed):
        services.save_discount_limits(actor=people[Role.MANAGER], limits={"manager": Decimal(1)})
    assert DiscountLimit.objects.get(role="manager").rate == Decimal("0.12")


def test_api_from_draft_to_comparison(client, people, quote, issue):
    client.force_login(people[Role.SALES])
    url = f"/api/v1/quotes/{quote.pk}/"
    seen = client.get(url).json()["revision"]

    def patch(at, data):
        return client.patch(at, data, content_type="application/json")

    assert patch(url, {"revision": seen, "source_note": "已核"}).status_code == 200
    stale = patch(url, {"revision": seen, "notes": "x"})
    assert (stale.status_code, stale.json()["revision"]) == (409, seen + 1)
    failed = client.get(f"{url}checks/").json()
    assert [c["code"] for c in failed if not c["is_met"]] == []
    issue(quote)
    second = client.post(f"{url}versions/", {"reason": "减项"}).json()
    newer = f"/api/v1/quotes/{second['id']}/"
    line = next(entry for entry in second["lines"] if entry["code"] == "S-TRAIN")
    assert patch(f"{newer}lines/{line['id']}/", {"quantity": "8"}).status_code == 200
    found = client.get(f"{newer}compare/{quote.pk}/").json()
    assert [c["line"]["code"] for c in found["changed"]] == ["S-TRAIN"]
    frozen = f"{url}lines/{quote.lines.first().pk}/"
    assert patch(frozen, {"quantity": "8"}).status_code == 428
    asked = client.patch(frozen, {"quantity": "8"}, content_type="application/json",
                         headers={"if-match": client.get(url)["ETag"]})
    assert asked.status_code == 409
    page = client.get(reverse("quotes:compare", args=[second["id"], quote.pk]))
    assert "减项" in page.content.decode()


def test_reviewer_compares_only_what_was_issued(client, people, issued):
    second = services.new_version(actor=people[Role.SALES], quote=issued, reason="内部")
    client.force_login(people[Role.REVIEWER])
    assert client.get(reverse("quotes:compare", args=[issued.pk, second.pk])).status_code == 404
    assert client.get(f"/api/v1/quotes/{issued.pk}/compare/{second.pk}/").status_code == 404
    assert client.get(f"/api/v1/quotes/{issued.pk}/checks/").status_code == 403


def test_list_filters_by_the_state_of_today(client, people, issued):
    client.force_login(people[Role.SALES])
    Quote.objects.filter(pk=issued.pk).update(quote_date="2024-01-01", valid_until="2024-01-31")
    found = client.get(reverse("quotes:list") + "?state=expired").context["page"].object_list
    assert [quote.pk for quote in found] == [issued.pk]
    assert not client.get(reverse("quotes:list") + "?state=issued").context["page"].object_list


def test_a_copy_by_api_goes_to_an_engagement_that_its_writer_sees(people, engagement, quote, api,
                                                                  outside):
    other = create_engagement(actor=people[Role.MANAGER], code="BK2601", name="另一项目",
                              customer=engagement.customer)
    url, asked = f"/api/v1/quotes/{quote.pk}/copies/", {"engagement": other.pk}
    assert api(Role.SALES).post(url, asked).status_code == 400
    add_member(actor=people[Role.MANAGER], engagement=other, user=people[Role.SALES])
    assert outside.post(url, asked).status_code == 404
    assert api(Role.CONSULTANT).post(url, {"engagement": engagement.pk}).status_code == 403
    made = api(Role.SALES).post(url, asked)
    assert (made.status_code, made.json()["engagement"], made.json()["state"]) == (
        201, other.pk, "draft")
    assert [(line["code"], line["quantity"]) for line in made.json()["lines"]] == [
        (line.code, f"{line.quantity}") for line in quote.lines.all()]
    assert Quote.objects.filter(engagement=other).count() == 1
