"""From draft to answer: limits, expiry, superseding, two writers, many lines."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils import timezone

from delivery.quotes import services
from delivery.quotes.draft_revisions import ChangedMeanwhile
from delivery.quotes.margin import margin_of
from delivery.quotes.models import DiscountLimit, PriceLine, Quote, QuoteLine, RateCard, TaxRate
from delivery.quotes.quote_checks import run_checks
from delivery.quotes.snapshot import facts_of
from delivery.quotes.tasks import expire
from delivery.quotes.version_comparison import compare
from engagements.errors import DeskError, InvalidInput, NotAllowed, WrongState
from engagements.models import AuditEntry, Role
from tests.cached_fixtures import cached_fixture


def checks(quote):
    return {check.code: check for check in run_checks(Quote.objects.get(pk=quote.pk))
            if not check.is_met}


@pytest.fixture
def update(people, quote):
    return lambda **fields: services.update_quote(actor=people[Role.SALES], quote=quote, **fields)


def test_discount_above_the_limit_needs_a_higher_approver(people, quote, update):
    update(source_note="已核", discount_rate=Decimal("0.15"), discount_reason="战略客户")
    services.submit_quote(actor=people[Role.SALES], quote=quote)
    services.review_quote(actor=people[Role.CONSULTANT], quote=quote)
    with pytest.raises(NotAllowed, match="Administrator"):
        services.approve_quote(actor=people[Role.MANAGER], quote=quote)
    approved = services.approve_quote(actor=people[Role.ADMINISTRATOR], quote=quote)
    assert (approved.state, approved.approved_by) == ("approved", people[Role.ADMINISTRATOR])


def test_limits_are_data(people, quote, update):
    DiscountLimit.objects.filter(role=Role.MANAGER).update(rate=Decimal("0.20"))
    update(source_note="已核", discount_rate=Decimal("0.15"), discount_reason="战略客户")
    services.submit_quote(actor=people[Role.SALES], quote=quote)
    services.review_quote(actor=people[Role.CONSULTANT], quote=quote)
    assert services.approve_quote(actor=people[Role.MANAGER], quote=quote).state == "approved"


def test_discount_above_every_limit_does_not_leave_the_draft(people, quote, update):
    update(source_note="已核", discount_rate=Decimal("0.60"), discount_reason="战略客户")
    with pytest.raises(DeskError) as caught:
        services.submit_quote(actor=people[Role.SALES], quote=quote)
    [failed] = caught.value.details["checks"]
    assert (failed["code"], failed["url"]) == (
        "R-QUO-06", reverse("quotes:terms", args=[quote.pk]))


def test_each_rule_says_where_to_cure_it(people, quote, update):
    terms = [{"percent": "30", "name": "一"}, {"percent": "60", "name": "二"}]
    update(payment_terms=terms, discount_rate=Decimal("0.1"),
           staffing=[{"grade": "expert", "people": 1, "days": "9"}])
    QuoteLine.objects.filter(quote=quote, code="S-TRAIN").update(grade="")
    found = checks(quote)
    assert set(found) == {"R-QUO-01", "R-QUO-04", "R-QUO-06", "R-QUO-07", "R-QUO-08"}
    assert all(check.url for check in found.values())
    assert "90" in found["R-QUO-04"].sentence


def test_scope_is_compared_with_the_stages_of_the_models(people, engagement, quote):
    from engagements import services as engagement_services

    engagement_services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="DET",
                                  name="检测", scope="inference")
    assert "R-QUO-09" in checks(quote)
    engagement_services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="LLM",
                                  name="模型")
    assert "R-QUO-09" not in checks(quote)


def test_firm_without_particulars_issues_nothing(quote):
    from delivery.documents.models import CompanyProfile

    CompanyProfile.objects.all().delete()
    assert checks(quote)["PARTIES"].url == reverse("documents:company")


def test_expired_by_date_and_by_task(people, issued):
    yesterday = timezone.localdate() - timedelta(days=1)
    Quote.objects.filter(pk=issued.pk).update(quote_date=yesterday, valid_until=yesterday)
    late = Quote.objects.get(pk=issued.pk)
    assert (late.state, late.current_state) == ("issued", "expired")
    with pytest.raises(WrongState, match="expired"):
        services.answer_quote(actor=people[Role.REVIEWER], quote=late, is_accepted=True)
    expire()
    expire()
    late.refresh_from_db()
    assert late.state == "expired"
    assert AuditEntry.objects.filter(action="quote.expire").count() == 1


def test_last_day_is_still_valid(people, issued):
    assert services.expire_quotes(today=issued.valid_until) == 0
    assert services.expire_quotes(today=issued.valid_until + timedelta(days=1)) == 1


def test_declining_needs_a_reason_and_keeps_it(people, issued):
    with pytest.raises(InvalidInput):
        services.answer_quote(actor=people[Role.REVIEWER], quote=issued, is_accepted=False)
    answered = services.answer_quote(actor=people[Role.REVIEWER], quote=issued,
                                     is_accepted=False, reason="超出预算")
    assert (answered.state, answered.answer_reason, answered.answered_by) == (
        "declined", "超出预算", people[Role.REVIEWER])


def test_next_version_supersedes_and_the_difference_is_readable(people, issued, issue):
    sales = people[Role.SALES]
    second = services.new_version(actor=sales, quote=issued, reason="客户要求减少资源")
    services.remove_line(actor=sales, line=second.lines.get(code="DDOS"))
    services.update_line(actor=sales, line=second.lines.get(code="S-TRAIN"),
                         quantity=Decimal(12))
    services.add_line(actor=sales, quote=second, price=PriceLine.objects.get(code="S-PM"),
                      quantity=Decimal(5))
    second = issue(Quote.objects.get(pk=second.pk))
    issued.refresh_from_db()
    assert issued.state == Quote.State.SUPERSEDED
    found = compare(issued, second)
    assert [line["code"] for line in found.added] == ["S-PM"]
    assert [line["code"] for line in found.removed] == ["DDOS"]
    [changed] = found.changed
    [change] = changed.changes
    assert (changed.line["code"], change.before, change.after) == ("S-TRAIN", "10", "12")
    gross = found.totals[-1]
    lines = (sum(Decimal(line["gross"]) for line in found.added)
             - sum(Decimal(line["gross"]) for line in found.removed) + changed.difference)
    assert gross.difference == lines


def test_amounts_in_two_currencies_have_no_difference(people, issued, api):
    second = services.new_version(actor=people[Role.SALES], quote=issued)
    Quote.objects.filter(pk=second.pk).update(currency="USD", exchange_rate=Decimal("7.2"))
    line = second.lines.first()
    line.quantity += 1
    line.save()
    found = compare(issued, Quote.objects.get(pk=second.pk))
    assert {change.difference for change in [*found.totals, *found.changed]} == {None}
    answer = api(Role.SALES).get(f"/api/v1/quotes/{second.pk}/compare/{issued.pk}/")
    assert [change["difference"] for change in answer.json()["changed"]] == [None]


def test_two_versions_alike_differ_in_nothing_but_dates(people, issued):
    second = services.new_version(actor=people[Role.SALES], quote=issued)
    found = compare(issued, second)
    assert (found.added, found.removed, found.changed) == ([], [], [])
    assert all(change.difference == 0 for change in found.totals)


def test_second_writer_is_told_what_changed(people, quote):
    seen = quote.revision
    services.update_quote(actor=people[Role.SALES], quote=quote, revision=seen,
                          discount_reason="框架协议")
    with pytest.raises(ChangedMeanwhile, match=r"Sales.*框架协议"):
        services.update_quote(actor=people[Role.MANAGER], quote=quote, revision=seen, notes="x")
    quote.refresh_from_db()
    assert (quote.discount_reason, quote.notes == "x") == ("框架协议", False)


def test_the_form_brings_the_newer_revision_back(client, people, quote):
    client.force_login(people[Role.SALES])
    url = reverse("quotes:terms", args=[quote.pk])
    form = {"revision": quote.revision, "valid_until": quote.valid_until, "currency": "CNY",
            "exchange_rate": "1", "discount_rate": "0", "invoice": "special", "notes": "mine"}
    services.update_quote(actor=people[Role.MANAGER], quote=quote, subject="另一主题")
    answer = client.post(url, form)
    text = answer.content.decode()
    assert (answer.status_code, "另一主题" in text, "mine" in text) == (200, True, True)
    newer = quote.revision + 1
    assert f'name="revision" value="{newer}"' in text
    assert client.post(url, {**form, "revision": newer}).status_code == 302
    quote.refresh_from_db()
    assert quote.notes == "mine"


def test_tax_of_a_line_and_prices_with_tax(people, quote):
    line = quote.lines.get(code="S-TRAIN")
    services.update_line(actor=people[Role.SALES], line=line, unit_price=Decimal("10000"),
                         is_tax_included=True, tax_rate=Decimal("0.03"))
    fact = next(f for f in facts_of(quote)["lines"] if f["code"] == "S-TRAIN")
    assert (fact["gross"], fact["net"], fact["tax"]) == ("100000.00", "97087.38", "2912.62")
    assert {r["rate"] for r in facts_of(quote)["by_rate"]} == {"0.0600", "0.0300"}


def test_new_lines_take_the_rate_that_is_valid_on_the_day(people, engagement, card):
    TaxRate.objects.update(valid_to=date(2020, 12, 31))
    TaxRate.objects.create(rate=Decimal("0.05"), name="新税率", valid_from=date(2021, 1, 1))
    draft = services.create_quote(actor=people[Role.SALES], engagement=engagement)
    line = services.add_line(actor=people[Role.SALES], quote=draft,
                             price=PriceLine.objects.get(code="S-PM"))
    assert line.tax_rate == Decimal("0.05")


def test_foreign_currency_needs_a_rate_and_says_its_name(people, engagement, card):
    sales = people[Role.SALES]
    draft = services.create_quote(actor=sales, engagement=engagement, currency="USD")
    price = PriceLine.objects.get(code="BMS")
    with pytest.raises(InvalidInput, match="exchange rate"):
        services.add_line(actor=sales, quote=draft, price=price)
    services.update_quote(actor=sales, quote=draft, exchange_rate=Decimal("7.2"))
    line = services.add_line(actor=sales, quote=draft, price=price)
    assert line.unit_price == Decimal("6250.0000")
    facts = facts_of(Quote.objects.get(pk=draft.pk))
    assert (facts["symbol"], facts["words_currency"]) == ("US$", "美元")
    assert facts["words_en"] == "six thousand six hundred twenty-five US dollars and 00/100"
    with pytest.raises(InvalidInput, match="USD"):
        services.update_quote(actor=sales, quote=draft, currency="CNY")


def test_a_rate_between_two_foreign_currencies_is_refused(people, engagement, card):
    """Costs, margin and portfolio take the quote's rate for yuan."""
    sales, price = people[Role.SALES], PriceLine.objects.get(code="BMS")
    RateCard.objects.filter(pk=price.card_id).update(currency="USD")
    price.refresh_from_db()
    for currency, rate in (("EUR", "1.08"), ("CNY", "0.14"), ("USD", "7.2")):
        draft = services.create_quote(actor=sales, engagement=engagement, currency=currency,
                                      exchange_rate=Decimal(rate))
        if currency == "EUR":
            with pytest.raises(InvalidInput, match="USD"):
                services.add_line(actor=sales, quote=draft, price=price)
        else:
            assert services.add_line(actor=sales, quote=draft, price=price).pk


def test_expired_price_list_prices_nothing(people, quote, card):
    services.close_rate_card(actor=people[Role.SALES], card=card, valid_to=date(2025, 1, 31))
    with pytest.raises(InvalidInput, match="not valid"):
        services.add_line(actor=people[Role.SALES], quote=quote,
                          price=PriceLine.objects.get(code="S-PM"))


@pytest.mark.slow
def test_cost_never_reaches_the_customer(client, people, quote, issue, update):
    line = quote.lines.get(code="S-TRAIN")
    services.update_line(actor=people[Role.SALES], line=line, unit_cost=Decimal("777.77"))
    update(source_note="已核")
    assert margin_of(quote).cost == Decimal("7777.70")
    services.store_quote_files(issue(quote).pk)
    client.force_login(people[Role.MANAGER])
    assert "7,777.70" in client.get(reverse("quotes:quote", args=[quote.pk])).content.decode()
    client.force_login(people[Role.REVIEWER])
    for url in (reverse("quotes:quote", args=[quote.pk]), f"/api/v1/quotes/{quote.pk}/",
                reverse("quotes:pdf", args=[quote.pk, "zh-hans"]),
                reverse("quotes:xlsx", args=[quote.pk, "en"])):
        answer = client.get(url)
        assert (url, answer.status_code) == (url, 200)
        assert b"777.7" not in answer.content.replace(b",", b"")
    text = client.get(reverse("quotes:quote", args=[quote.pk])).content.decode()
    assert "7,777.70" not in text
    assert "777.77" not in str(facts_of(Quote.objects.get(pk=quote.pk)))
    assert "unit_cost" not in client.get(f"/api/v1/quotes/{quote.pk}/").content.decode()


@pytest.fixture
@cached_fixture
def huge(people, engagement, card):
    """A draft of 5,000 lines."""
    draft = services.create_quote(actor=people[Role.SALES], engagement=engagement)
    QuoteLine.objects.bulk_create(QuoteLine(
        quote=draft, position=n, category="other", code=f"L{n}", name=f"条目 {n}", grade="senior",
        unit="person_day", quantity=1, unit_price=Decimal("10.01")) for n in range(5000))
    return draft


@pytest.mark.slow
def test_many_lines_cost_no_more_queries(client, people, quote, huge,
                                         django_assert_max_num_queries):
    client.force_login(people[Role.SALES])
    for some in (quote, huge):
        with django_assert_max_num_queries(34):  # two of them for the costs of grades
            answer = client.get(reverse("quotes:quote", args=[some.pk]))
    assert answer.context["lines"]["pages"] == 50
    assert answer.content.count(b"/remove/") == 100
    answer = client.get(reverse("quotes:quote", args=[huge.pk]) + "?page=50")
    assert answer.context["lines"]["rows"][-1]["number"] == 5000


@pytest.mark.slow
def test_next_version_of_many_lines_is_written_in_bulk(people, huge, issue,
                                                       django_assert_max_num_queries):
    done = issue(huge)
    with django_assert_max_num_queries(150):
        second = services.new_version(actor=people[Role.SALES], quote=done)
    assert second.lines.count() == 5000
