"""Answers that the customer gave outside the portal, and engagements that were not won."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from delivery.agreement.queries import agreement_of
from delivery.next_steps import inbox_items
from delivery.quotes import services
from delivery.quotes.models import Quote, QuoteAnswer
from delivery.quotes.outcomes import outcomes_of
from engagements import services as engaging
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import Customer, Engagement, Role
from tests.delivery.acceptance.test_scan_validation import picture


def paper() -> SimpleUploadedFile:
    return SimpleUploadedFile("签回.png", picture())


def recorded(people, quote, *, is_accepted=True, **fields) -> QuoteAnswer:
    given = {"way": "paper", "given_on": timezone.localdate(), "given_by": "王总",
             "file": paper(), **fields}
    return services.record_answer(actor=people[Role.SALES], quote=quote, is_accepted=is_accepted,
                                  **given)


def test_a_second_person_makes_a_recorded_answer_count(people, issued):
    answer = recorded(people, issued)
    issued.refresh_from_db()
    assert issued.state == Quote.State.ISSUED
    with pytest.raises(NotAllowed):
        services.check_answer(actor=people[Role.SALES], answer=answer, is_confirmed=True)
    services.check_answer(actor=people[Role.MANAGER], answer=answer, is_confirmed=True)
    issued.refresh_from_db()
    assert (issued.state, issued.answered_by) == (Quote.State.ACCEPTED, people[Role.MANAGER])
    assert agreement_of(issued.engagement).value("price")["gross"] == (
        issued.snapshot["totals"]["gross"])
    assert answer.file.read()[:4] == b"\x89PNG"


def test_a_recorded_answer_waits_in_the_inbox_of_others(people, issued):
    recorded(people, issued)
    assert {role: [item.kind for item in inbox_items(people[role])
                   if item.kind == "quote_answer_check"]
            for role in (Role.SALES, Role.MANAGER)} == {
        Role.SALES: [], Role.MANAGER: ["quote_answer_check"]}


def test_an_answer_that_is_not_confirmed_leaves_the_quote_open(people, issued):
    answer = recorded(people, issued, is_accepted=False, reason="预算冻结")
    with pytest.raises(InvalidInput):
        services.check_answer(actor=people[Role.MANAGER], answer=answer, is_confirmed=False)
    services.check_answer(actor=people[Role.MANAGER], answer=answer, is_confirmed=False,
                          remark="不是这份报价")
    issued.refresh_from_db()
    assert issued.state == Quote.State.ISSUED
    second = recorded(people, issued, is_accepted=False, reason="预算冻结")
    services.check_answer(actor=people[Role.MANAGER], answer=second, is_confirmed=True)
    issued.refresh_from_db()
    assert (issued.state, issued.answer_reason) == (Quote.State.DECLINED, "预算冻结")


@pytest.mark.parametrize("fields", [
    {"given_on": timezone.localdate() + timedelta(days=1)},
    {"given_on": timezone.localdate() - timedelta(days=400)},
    {"way": "mail", "file": None}, {"is_accepted": False},
    {"file": SimpleUploadedFile("x.exe", b"MZ")}])
def test_what_proves_nothing_is_refused(people, issued, fields):
    with pytest.raises(InvalidInput):
        recorded(people, issued, **fields)
    assert not QuoteAnswer.objects.exists()


def test_an_answer_in_time_counts_after_the_quote_has_expired(people, issued):
    day = timezone.localdate()
    Quote.objects.filter(pk=issued.pk).update(valid_until=day, issued_at=timezone.now())
    services.expire_quotes(today=day + timedelta(days=1))
    issued.refresh_from_db()
    assert issued.state == Quote.State.EXPIRED
    services.check_answer(actor=people[Role.MANAGER], answer=recorded(people, issued),
                          is_confirmed=True)
    issued.refresh_from_db()
    assert issued.state == Quote.State.ACCEPTED


def test_one_answer_waits_at_a_time(people, issued):
    recorded(people, issued)
    with pytest.raises(WrongState):
        recorded(people, issued)


def test_who_may_not_approve_the_discount_is_not_offered_it(people, quote):
    services.update_quote(actor=people[Role.SALES], quote=quote, source_note="以各行为准",
                          discount_rate=Decimal("0.25"), discount_reason="大客户")
    services.save_discount_limits(actor=people[Role.ADMINISTRATOR],
                                  limits={Role.MANAGER: Decimal("0.10")})
    Quote.objects.filter(pk=quote.pk).update(state=Quote.State.REVIEWED)
    kinds = {role: [item.kind for item in inbox_items(people[role]) if item.kind == "quote"]
             for role in (Role.MANAGER, Role.ADMINISTRATOR)}
    assert kinds[Role.MANAGER] == []


def test_what_was_not_won_ends_with_its_cause(people, issued):
    engagement = issued.engagement
    with pytest.raises(InvalidInput):
        engaging.lose_engagement(actor=people[Role.SALES], engagement=engagement, cause="",
                                 reason="价格")
    engaging.lose_engagement(actor=people[Role.SALES], engagement=engagement, cause="price",
                             reason="价格高于对手")
    engagement.refresh_from_db()
    issued.refresh_from_db()
    assert (engagement.state, engagement.has_ended, issued.state) == (
        Engagement.State.NOT_WON, True, Quote.State.REVOKED)
    found = outcomes_of(people[Role.SALES], timezone.localdate().year)
    assert (found[0].won, found[0].lost, found[0].rate) == (0, 1, 0)
    assert dict(found[0].causes) == {"price": 1}


def test_what_was_ordered_cannot_be_lost(people, issued):
    services.answer_quote(actor=people[Role.REVIEWER], quote=issued, is_accepted=True)
    with pytest.raises(WrongState):
        engaging.lose_engagement(actor=people[Role.SALES], engagement=issued.engagement,
                                 cause="price", reason="价格")
    found = outcomes_of(people[Role.MANAGER], timezone.localdate().year)[0]
    assert (found.won, found.lost, found.rate) == (1, 0, 1)
    assert found.amount == Decimal(issued.snapshot["totals"]["net"])


def test_sales_begins_an_engagement(people, client):
    client.force_login(people[Role.SALES])
    assert client.get("/engagements/new/").status_code == 200
    client.post("/engagements/new/", {"code": "EP26901", "name": "新项目", "scope": "full",
                                      "new_customer": "某某科技有限公司"})
    made = Engagement.objects.get(code="EP26901")
    assert made.memberships.get().user == people[Role.SALES]
    assert Customer.objects.get(pk=made.customer_id).name == "某某科技有限公司"


@pytest.mark.slow
def test_pages_of_recorded_answers(people, issued, client):
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    client.force_login(people[Role.SALES])
    path = f"/quotes/{issued.pk}/"
    answered = client.post(path + "answers/new/", {
        "is_accepted": "true", "way": "paper", "given_on": str(timezone.localdate()),
        "given_by": "王总", "file": paper()})
    assert answered.status_code == 302, answered.content.decode()
    answer = QuoteAnswer.objects.get()
    assert "Somebody else of the firm confirms it." in client.get(path).content.decode()
    client.force_login(people[Role.MANAGER])
    assert "Confirm the answer" in client.get(path).content.decode()
    assert client.get(f"/quotes/answers/{answer.pk}/file/").status_code == 200
    client.post(f"/quotes/answers/{answer.pk}/check/", {"is_confirmed": "true"})
    issued.refresh_from_db()
    assert issued.state == Quote.State.ACCEPTED
    assert "Won and lost" in client.get("/quotes/outcomes/").content.decode()
    client.force_login(people[Role.REVIEWER])
    assert "王总" not in client.get(path).content.decode()
    assert client.get(f"/quotes/answers/{answer.pk}/file/").status_code == 404
