"""Change requests: both sides approve, then criteria, plan and quote change together or not."""

from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override

from assessments import services as assessing
from assessments.models import CriteriaSet
from delivery.planning.changes.change_labels import presented
from delivery.planning.models import ChangeRequest, Task
from delivery.planning.services import change_drafts, changes, plans
from delivery.quotes import services as quoting
from delivery.quotes.models import PriceLine, Quote, QuoteLine
from delivery.quotes.snapshot import content_hash
from delivery.quotes.transitions import ChecksFailed
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import AuditEntry, Role
from tests.delivery.conftest import sign_for_both
from tests.delivery.planning.conftest import WORDS
from workers.services import queue_job


def in_force(engagement):
    """Version of the signed criteria, threshold, days of the task, baselines, quotes."""
    signed = engagement.criteria_sets.get(state=CriteriaSet.State.SIGNED)
    return (signed.version, signed.criteria.get(definition__code="latency").threshold,
            engagement.plan.tasks.get(stage="survey").days, engagement.plan.baselines.count(),
            sorted(engagement.quotes.values_list("version", "state")))


BEFORE = (1, 10, 1, 1, [(1, "issued")])
AFTER = (2, 12, 3, 2, [(1, "superseded"), (2, "accepted")])


@pytest.mark.parametrize("order", [(Role.MANAGER, Role.REVIEWER), (Role.REVIEWER, Role.MANAGER)])
def test_second_approval_puts_everything_in_force(people, agreed, change, order):
    first, second = (people[role] for role in order)
    changes.approve_change(actor=first, change=change)
    assert in_force(agreed) == BEFORE
    with pytest.raises(WrongState):
        changes.approve_change(actor=first, change=change)
    done = changes.approve_change(actor=second, change=change)
    assert in_force(agreed) == AFTER
    assert (done.state, done.new_criteria.customer_signatory, done.new_quote.version) == (
        ChangeRequest.State.APPLIED, "Reviewer", 2)
    assert done.new_baseline.reason == str(change)
    quote = done.new_quote
    assert sorted(quote.lines.values_list("code", "quantity")) == [("S-PM", 8), ("S-TEST", 2)]
    assert (quote.created_by, quote.approved_by, quote.answered_by, quote.change_reason) == (
        people[Role.CONSULTANT], people[Role.MANAGER], people[Role.REVIEWER], str(change))
    assert quote.snapshot["totals"]["gross"] == done.facts["price"]["totals"]["gross"][1]
    assert content_hash(quote.snapshot) == quote.content_hash
    assert agreed.criteria_sets.get(version=2).criteria.count() == (
        agreed.criteria_sets.get(version=1).criteria.count())


def break_quote(people, agreed):
    Quote.objects.update(state=Quote.State.DECLINED)


def break_criteria(people, agreed):
    assessing.draft_criteria(actor=people[Role.MANAGER], engagement=agreed)


def break_plan(people, agreed):
    plans.update_task(actor=people[Role.MANAGER], task=agreed.plan.tasks.get(stage="survey"),
                      days=2)


@pytest.mark.parametrize("breaking", [break_quote, break_criteria, break_plan])
def test_all_effects_or_none(people, agreed, change, breaking):
    changes.approve_change(actor=people[Role.MANAGER], change=change)
    breaking(people, agreed)
    before = in_force(agreed)
    with pytest.raises(WrongState):
        changes.approve_change(actor=people[Role.REVIEWER], change=change)
    stored = ChangeRequest.objects.get()
    assert in_force(agreed) == before
    assert (stored.state, stored.customer_approved_at) == ("submitted", None)


def test_criteria_signed_meanwhile_stop_the_change(people, agreed, change):
    manager = people[Role.MANAGER]
    draft = assessing.draft_criteria(actor=manager, engagement=agreed)
    sign_for_both(people, draft)
    with pytest.raises(WrongState):
        changes.approve_change(actor=people[Role.REVIEWER], change=change)


def test_quality_is_stated_by_people_and_the_other_effects_follow_from_the_facts(people, agreed):
    made = changes.create_change(actor=people[Role.CONSULTANT], engagement=agreed, **{
        name: " " if name.startswith("effect_on") else text for name, text in WORDS.items()})
    with pytest.raises(InvalidInput):
        changes.submit_change(actor=people[Role.CONSULTANT], change=made)
    changes.update_change(actor=people[Role.CONSULTANT], change=made, effect_on_quality="无")
    submitted = changes.submit_change(actor=people[Role.CONSULTANT], change=made)
    assert said_in_english(submitted.facts) == ["none", "none", "none", "none", "无"]


def test_effects_that_nobody_worded_are_said_in_the_language_of_the_reader(change):
    silent = {name: {**fact, "text": ""} if isinstance(fact, dict) and "text" in fact else fact
              for name, fact in change.facts.items()}
    assert said_in_english(silent) == [
        "none", "The plan ends on 2025-10-10 (was 2025-09-30).",
        "Total including tax: CNY 11,173.46 → CNY 20,360.53 (+9,187.07)",
        "1 threshold changes", "--"]


def test_person_days_that_move_no_task_say_so(change):
    """Those of project management and of what the quote did not hold so far."""
    still = {**change.facts, "schedule": {"text": ""}}
    assert [Decimal(line["quantity"]) for line in still["price"]["added"]] == [2]
    assert [Decimal(pair["after"]["quantity"]) - Decimal(pair["before"]["quantity"])
            for pair in still["price"]["changed"]] == [3]
    assert said_in_english(still)[1].startswith("+5.00 person-days in the price move no date")


def test_person_days_of_a_stage_move_its_tasks_by_those_who_do_them(people, agreed):
    """Two people do ten days in five; a length that somebody entered stays; signed, it moves the
    plan and its baseline."""
    consultant, quote = people[Role.CONSULTANT], Quote.objects.get()
    QuoteLine.objects.update(stage="infer_migrate", quantity=10)
    line = quote.lines.get()
    Task.objects.filter(stage__in=("infer_migrate", "infer_tune")).update(days=5)
    task = agreed.plan.tasks.get(stage="infer_migrate")
    made = changes.create_change(actor=consultant, engagement=agreed, quote=quote, **WORDS)

    def price(quantity=None, action="change"):
        return change_drafts.set_price_effect(
            actor=consultant, change=made, action=action, line=line,
            quantity=quantity and Decimal(quantity))

    def lengths():
        return {row.task.stage: (row.days_before, row.days_after)
                for row in made.schedule_effects.all()}

    effect = price(14)
    assert lengths() == {"infer_migrate": (5, 7)}
    price(11)
    assert lengths() == {"infer_migrate": (5, 6)}  # whole days, rounded up
    price(action="remove")
    assert lengths() == {"infer_migrate": (5, 0)}
    change_drafts.remove_effect(actor=consultant, effect=effect)
    assert lengths() == {}
    effect = price(14)
    change_drafts.set_schedule_effect(actor=consultant, change=made, task=task, days_after=9)
    price(20)
    assert lengths() == {"infer_migrate": (5, 9)}
    change_drafts.remove_effect(actor=consultant, effect=made.schedule_effects.get())
    price(14)
    assert lengths() == {}
    change_drafts.remove_effect(actor=consultant, effect=effect)
    price(14)
    submitted = changes.submit_change(actor=consultant, change=made)
    with override("en"):
        assert "The plan ends on" in presented(submitted.facts)["schedule"]["said"]
    for role in (Role.MANAGER, Role.REVIEWER):
        changes.approve_change(actor=people[role], change=made)
    task.refresh_from_db()
    assert task.days == 7
    assert agreed.plan.baselines.count() == 2


def said_in_english(facts: dict) -> list[str]:
    with override("en"):
        message = presented(facts)
    return [message[name]["said"] for name in ("scope", "schedule", "price", "criteria", "quality")]


def test_quality_and_measures_are_part_of_what_both_sides_sign(people, agreed):
    made = changes.create_change(actor=people[Role.CONSULTANT], engagement=agreed, **WORDS)
    facts = changes.submit_change(actor=people[Role.CONSULTANT], change=made).facts
    assert facts["quality"] == {"text": WORDS["effect_on_quality"]}
    assert facts["measures"] == WORDS["measures"]


def test_the_result_follows_when_the_change_is_in_force(people, agreed, change, client):
    consultant = people[Role.CONSULTANT]
    with pytest.raises(WrongState):
        changes.record_result(actor=consultant, change=change, result="已压测")
    for role in (Role.MANAGER, Role.REVIEWER):
        change = changes.approve_change(actor=people[role], change=change)
    signed = change.content_hash
    with pytest.raises(InvalidInput):
        changes.record_result(actor=consultant, change=change, result=" ")
    with pytest.raises(NotAllowed):
        changes.record_result(actor=people[Role.REVIEWER], change=change, result="x")
    client.force_login(consultant)
    client.post(f"/changes/{change.pk}/result/", {"result": "已压测，时延 11.2 ms"})
    change.refresh_from_db()
    assert (change.result, change.result_by, change.content_hash, change.state) == (
        "已压测，时延 11.2 ms", consultant, signed, "applied")
    page = client.get(f"/changes/{change.pk}/").content.decode()
    assert "已压测，时延 11.2 ms" in page


def test_who_may_decide(people, agreed, change, stranger):
    foreign = type(stranger).objects.create_user("other", role=Role.REVIEWER)
    with pytest.raises(NotAllowed):
        changes.approve_change(actor=foreign, change=change)


def test_rejection_needs_a_reason_and_ends_it(people, agreed, change):
    with pytest.raises(InvalidInput):
        changes.reject_change(actor=people[Role.REVIEWER], change=change, reason=" ")
    changes.reject_change(actor=people[Role.REVIEWER], change=change, reason="不接受")
    with pytest.raises(WrongState):
        changes.approve_change(actor=people[Role.MANAGER], change=change)
    assert in_force(agreed) == BEFORE


def test_submitted_is_frozen_and_its_task_stays(people, agreed, change):
    with pytest.raises(WrongState):
        changes.update_change(actor=people[Role.CONSULTANT], change=change, title="x")
    with pytest.raises(WrongState):
        plans.remove_task(actor=people[Role.MANAGER], task=agreed.plan.tasks.get(stage="survey"))


def test_customer_does_not_see_drafts(client, people, agreed, change):
    draft = changes.create_change(actor=people[Role.CONSULTANT], engagement=agreed, **WORDS)
    client.force_login(people[Role.REVIEWER])
    pages = [client.get(reverse("planning:change", args=[c.pk])).status_code
             for c in (change, draft)]
    assert pages == [200, 404]
    assert list(client.get(reverse("planning:changes", args=["EP2501"])).context["page"]) == [
        change]


@pytest.mark.slow
def test_change_by_page(client, people, agreed):
    client.force_login(people[Role.CONSULTANT])
    answer = client.post(reverse("planning:change_new", args=["EP2501"]), {
        **WORDS, "quote": Quote.objects.get().pk})
    made = ChangeRequest.objects.get()
    assert answer.url == reverse("planning:change", args=[made.pk])
    client.post(reverse("planning:change_effect", args=[made.pk, "price"]),
                {"action": "change", "line": Quote.objects.get().lines.get().pk, "quantity": "8"})
    criterion = agreed.criteria_sets.get().criteria.get(definition__code="latency")
    client.post(reverse("planning:change_effect", args=[made.pk, "criterion"]),
                {"criterion": criterion.pk, "threshold_after": "12"})
    client.post(reverse("planning:change_effect", args=[made.pk, "schedule"]),
                {"task": agreed.plan.tasks.get(stage="survey").pk, "days_after": 3})
    client.post(reverse("planning:change_move", args=[made.pk, "submit"]))
    for role in (Role.MANAGER, Role.REVIEWER):
        client.force_login(people[role])
        assert list(client.get(answer.url).context["moves"]) == ["approve", "reject"]
        client.post(reverse("planning:change_move", args=[made.pk, "approve"]))
    assert in_force(agreed) == AFTER
    page = client.get(answer.url).content.decode()
    assert ('>≤ 10 ms</td>' in page, '<strong>≤ 12 ms</strong>' in page) == (True, True)


def test_change_by_api(client, people, agreed):
    client.force_login(people[Role.CONSULTANT])
    made = client.post("/api/v1/change-requests/", {"engagement": agreed.pk, **WORDS}).json()
    path = f"/api/v1/change-requests/{made['id']}/"
    task = agreed.plan.tasks.get(stage="survey")
    client.post(path + "schedule_effect/", {"task": task.pk, "days_after": 3})
    assert client.post(path + "submit/").json()["state"] == "submitted"
    assert client.post(path + "approve/").status_code == 403
    for role in (Role.REVIEWER, Role.MANAGER):
        client.force_login(people[role])
        answer = client.post(path + "approve/")
    assert (answer.json()["state"], answer.json()["schedule_effects"][0]["days_after"]) == (
        "applied", 3)
    task.refresh_from_db()
    assert task.days == 3


def test_what_was_signed_is_frozen_and_shown(client, people, agreed, change):
    facts = change.facts
    assert facts["criteria"]["rows"][0]["after"] == "12"
    assert facts["schedule"]["days"][1] - facts["schedule"]["days"][0] == 2
    [row] = facts["price"]["changed"]
    assert (row["before"]["quantity"], row["after"]["quantity"]) == ("5", "8")
    assert [line["code"] for line in facts["scope"]["added"]] == ["S-TEST"]
    client.force_login(people[Role.REVIEWER])
    page = client.get(reverse("planning:change", args=[change.pk]))
    assert page.context["facts"]["price"]["totals"][-1]["after"] == (
        facts["price"]["totals"]["gross"][1])
    PriceLine.objects.update(unit_price=1)
    again = client.get(reverse("planning:change", args=[change.pk]))
    assert again.context["facts"] == page.context["facts"]


def test_a_chosen_quote_needs_lines_that_change(people, agreed):
    made = changes.create_change(actor=people[Role.CONSULTANT], engagement=agreed,
                                 quote=Quote.objects.get(), **WORDS)
    with pytest.raises(InvalidInput, match="QT-EP2501"):
        changes.submit_change(actor=people[Role.CONSULTANT], change=made)
    changes.update_change(actor=people[Role.CONSULTANT], change=made, quote=None)
    assert changes.submit_change(actor=people[Role.CONSULTANT], change=made).facts["price"] == {
        "text": "新版报价"}


def test_what_could_not_come_into_force_is_not_submitted(client, people, agreed):
    consultant, line = people[Role.CONSULTANT], Quote.objects.get().lines.get()
    made = changes.create_change(actor=consultant, engagement=agreed, quote=Quote.objects.get(),
                                 **WORDS)
    change_drafts.set_price_effect(actor=consultant, change=made, action="remove", line=line)
    with pytest.raises(ChecksFailed, match="R-QUO-07"):
        changes.submit_change(actor=consultant, change=made)
    client.force_login(consultant)
    page = client.get(reverse("planning:change", args=[made.pk]))
    assert (page.status_code, "R-QUO-07" in page.context["problem"]) == (200, True)


def test_a_change_takes_no_dollars_for_yuan(people, agreed):
    made = changes.create_change(actor=people[Role.CONSULTANT], engagement=agreed,
                                 quote=Quote.objects.get(), **WORDS)
    price = PriceLine.objects.get(code="S-TEST")
    price.card.currency = "USD"
    price.card.save()
    with pytest.raises(InvalidInput, match="USD"):
        change_drafts.set_price_effect(actor=people[Role.CONSULTANT], change=made, action="add",
                                       price=price, quantity=Decimal(2))
    assert not made.price_effects.exists()


def test_only_who_prices_sets_another_price(people, agreed):
    made = changes.create_change(actor=people[Role.CONSULTANT], engagement=agreed,
                                 quote=Quote.objects.get(), **WORDS)
    line = Quote.objects.get().lines.get()
    fields = {"change": made, "action": "change", "line": line, "unit_price": Decimal(900)}
    with pytest.raises(NotAllowed):
        change_drafts.set_price_effect(actor=people[Role.CONSULTANT], **fields)
    effect = change_drafts.set_price_effect(actor=people[Role.SALES], **fields)
    assert (effect.quantity, effect.unit_price) == (line.quantity, 900)
    with pytest.raises(NotAllowed):
        change_drafts.set_schedule_effect(actor=people[Role.SALES], change=made, days_after=1,
                                          task=agreed.plan.tasks.first())


def test_staffing_plan_follows_the_lines(people, agreed, change):
    quote = Quote.objects.get()
    Quote.objects.update(staffing=[{"grade": "manager", "people": 1, "days": "5"}])
    done = [changes.approve_change(actor=people[role], change=change)
            for role in (Role.MANAGER, Role.REVIEWER)][-1]
    assert done.new_quote.staffing == [{"grade": "manager", "people": 1, "days": "8"},
                                       {"grade": "junior", "people": None, "days": "2"}]
    assert quote.number == done.new_quote.number


def test_a_draft_of_the_next_version_does_not_hold_up_a_change(people, agreed, change):
    """The change brings a later version; the draft stays behind, fails its check, is discarded."""
    sales = people[Role.SALES]
    draft = quoting.new_version(actor=sales, quote=Quote.objects.get())
    for role in (Role.MANAGER, Role.REVIEWER):
        changes.approve_change(actor=people[role], change=change)
    assert in_force(agreed)[-1] == [(1, "superseded"), (2, "draft"), (3, "accepted")]
    with pytest.raises(ChecksFailed, match="R-QUO-12"):
        quoting.submit_quote(actor=sales, quote=draft)
    with pytest.raises(NotAllowed):
        quoting.discard_quote(actor=people[Role.REVIEWER], quote=draft)
    quoting.discard_quote(actor=sales, quote=draft)
    assert in_force(agreed)[-1] == [(1, "superseded"), (3, "accepted")]
    assert AuditEntry.objects.filter(action="quote.discard").count() == 1


def test_its_author_takes_a_change_back_and_puts_it_again(people, agreed, change):
    consultant, manager = people[Role.CONSULTANT], people[Role.MANAGER]
    changes.approve_change(actor=people[Role.REVIEWER], change=change)
    with pytest.raises(NotAllowed):
        changes.withdraw_change(actor=manager, change=change)
    back = changes.withdraw_change(actor=consultant, change=change)
    assert (back.state, back.content_hash, back.customer_approved_at) == ("draft", "", None)
    assert AuditEntry.objects.get(action="change.withdraw").data["approved_by"] == ["customer"]
    again = changes.submit_change(actor=consultant, change=back)
    for role in (Role.MANAGER, Role.REVIEWER):
        changes.approve_change(actor=people[role], change=again)
    assert in_force(agreed) == AFTER


@pytest.mark.parametrize("first", [Role.MANAGER, Role.REVIEWER])
def test_nobody_approves_what_is_stale(people, agreed, change, first):
    break_plan(people, agreed)
    with pytest.raises(WrongState):
        changes.approve_change(actor=people[first], change=change)
    stored = ChangeRequest.objects.get()
    assert (stored.firm_approved_at, stored.customer_approved_at) == (None, None)


def test_nothing_starts_for_a_dropped_model(people, agreed, llm):
    llm.dropped_at, llm.drop_reason = timezone.now(), "范围变更"
    llm.save()
    with pytest.raises(WrongState, match="dropped"), override("en"):
        queue_job(actor=people[Role.CONSULTANT], kind="adapt.megatron_train", model=llm)
