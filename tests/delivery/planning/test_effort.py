"""Effort: rules with a basis in words, adjustments with reasons, locking, calibration, time."""

import io
from datetime import date, timedelta
from decimal import Decimal

import pytest
from django.db.models import Sum
from django.urls import reverse
from django.utils import timezone, translation
from hypothesis import given
from hypothesis import strategies as st

from delivery.planning import queries
from delivery.planning.effort import calibration, usage
from delivery.planning.effort.model_facts import model_facts
from delivery.planning.estimation import ModelFacts, model_lines
from delivery.planning.models import EffortEstimate, PlannedTask, TimeEntry
from delivery.planning.plan.working_days import is_provisional, monday_of, provisional_years
from delivery.planning.services import estimates, plans, time_entries
from delivery.planning.time.burn_up import burn_up
from delivery.quotes import services as quoting
from delivery.quotes.margin import margin_of
from delivery.quotes.models import Quote
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import Engagement, Membership, Role, StageRecord
from engagements.optimistic_locking import EditConflict
from engagements.stages import Stage, StageState
from workers.artifacts.artifact_store import store_file
from workers.models import StoredReading

DAY = date(2025, 7, 1)


def read_table(engagement, model, table, apis):
    artifact = store_file(stream=io.BytesIO(table.encode()), name=f"{table}.csv",
                          engagement=engagement, model=model)
    return StoredReading.objects.create(
        artifact=artifact, kind="migration_analysis", reader="r",
        reader_version="1", values={"table": table, "rows": 9, "apis": apis})


@pytest.mark.slow
@given(st.sets(st.sampled_from(Stage.values)), st.none() | st.decimals(0, 1000, places=1),
       st.none() | st.integers(0, 500), st.integers(0, 64))
def test_days_rise_and_are_half_days(stages, size, apis, cards):
    for line in model_lines(ModelFacts(frozenset(stages), size, apis, "f", cards), {}):
        low, likely, high = line.days
        assert 0 < low <= likely <= high
        assert all(d % Decimal("0.5") == 0 for d in line.days)
        assert line.stage in stages


def test_newest_analysis_counts_and_stages_out_of_scope_have_no_line(engagement, llm, detector):
    read_table(engagement, llm, "unsupported_api", {"a": 3, "b": 1})
    read_table(engagement, llm, "unsupported_api", {"a": 3})
    read_table(engagement, llm, "unknown_api", {"c": 1, "d": 1})
    assert model_facts(llm).unsupported_apis == 3
    assert model_facts(detector).unsupported_apis is None
    items = {line.item for line in model_lines(model_facts(detector), {})}
    assert items == {"survey", "design", "env", "convert", "serve", "test"}


def test_size_and_apis_stand_in_the_basis(people, engagement, llm):
    read_table(engagement, llm, "unsupported_api", {"a": 3, "b": 1})
    made = estimates.draft_estimate(actor=people[Role.CONSULTANT], engagement=engagement)
    with translation.override("en"):
        adapt = made.lines.get(item="adapt")
        operators = made.lines.get(item="operators")
        assert adapt.basis_sentences == ["Starting value 5 days.",
                                         "13 billion parameters: × 2."]
        assert operators.basis_sentences == ["2 different unsupported APIs in unsupported_api.csv."]
    assert (adapt.low, adapt.likely, adapt.high) == (6, 10, 16)
    assert (operators.low, operators.likely, operators.high) == (1, 2, 4)


def test_totals_by_grade_and_stage_are_the_lines(estimate):
    likely = sum(line.likely for line in estimate.lines.all())
    assert queries.grand_total(estimate)["likely"] == likely
    for by in ("grade", "stage"):
        assert sum(row["likely"] for row in queries.totals(estimate, by)) == likely


def test_adjustment_needs_a_reason_and_survives_the_next_version(people, engagement, estimate):
    line = estimate.lines.get(item="adapt")
    days = {"low": Decimal(2), "likely": Decimal(4), "high": Decimal(9)}
    with pytest.raises(InvalidInput):
        estimates.adjust_line(actor=people[Role.CONSULTANT], line=line, reason=" ", **days)
    with pytest.raises(InvalidInput):
        estimates.adjust_line(actor=people[Role.CONSULTANT], line=line, reason="x",
                              **{**days, "low": Decimal(5)})
    estimates.adjust_line(actor=people[Role.CONSULTANT], line=line, reason="同族模型已迁移", **days)
    estimates.approve_estimate(actor=people[Role.MANAGER], estimate=estimate)
    with pytest.raises(WrongState):
        estimates.adjust_line(actor=people[Role.CONSULTANT], line=line, reason="later", **days)
    second = estimates.draft_estimate(actor=people[Role.CONSULTANT], engagement=engagement)
    copy = second.lines.get(item="adapt")
    assert (second.version, copy.likely, copy.reason, copy.is_adjusted) == (
        2, 4, "同族模型已迁移", True)


def test_author_does_not_approve_and_one_version_is_approved(people, engagement, llm):
    own = estimates.draft_estimate(actor=people[Role.MANAGER], engagement=engagement)
    with pytest.raises(NotAllowed):
        estimates.approve_estimate(actor=people[Role.MANAGER], estimate=own)
    estimates.approve_estimate(actor=people[Role.ADMINISTRATOR], estimate=own)
    second = estimates.draft_estimate(actor=people[Role.CONSULTANT], engagement=engagement)
    estimates.approve_estimate(actor=people[Role.MANAGER], estimate=second)
    assert list(engagement.estimates.values_list("state", flat=True)) == [
        EffortEstimate.State.APPROVED, EffortEstimate.State.SUPERSEDED]


def test_second_writer_sees_what_the_first_changed(people, estimate):
    line = estimate.lines.get(item="adapt")
    seen = estimate.lock_version
    estimates.adjust_line(actor=people[Role.CONSULTANT], line=line, low=Decimal(1),
                          likely=Decimal(2), high=Decimal(3), reason="a", seen=seen)
    with pytest.raises(EditConflict) as caught:
        estimates.adjust_line(actor=people[Role.MANAGER], line=line, low=Decimal(9),
                              likely=Decimal(9), high=Decimal(9), reason="b", seen=seen)
    [change] = caught.value.details["changes"]
    assert (change["who"], change["before"], change["after"]) == (
        "Consultant", "6.0/10.0/16.0", "1/2/3")
    line.refresh_from_db()
    assert line.likely == 2


def test_conflict_on_the_page_shows_the_change_and_lets_save_again(client, people, estimate):
    line = estimate.lines.get(item="adapt")
    url = reverse("planning:effort_line", args=[line.pk])
    client.force_login(people[Role.MANAGER])
    fields = {"low": 1, "likely": 2, "high": 3, "reason": "mine", "seen": estimate.lock_version}
    estimates.adjust_line(actor=people[Role.CONSULTANT], line=line, low=Decimal(4),
                          likely=Decimal(5), high=Decimal(6), reason="first")
    answer = client.post(url, fields)
    assert answer.status_code == 200
    assert "4/5/6" in answer.content.decode()
    assert f'name="seen" value="{estimate.lock_version + 1}"' in answer.content.decode()
    again = client.post(url, {**fields, "seen": estimate.lock_version + 1})
    line.refresh_from_db()
    assert (again.status_code, line.likely) == (302, 2)


def test_page_says_in_words_what_is_wrong_with_the_days(client, people, estimate):
    line = estimate.lines.get(item="adapt")
    client.force_login(people[Role.CONSULTANT])
    with translation.override("en"):
        answer = client.post(reverse("planning:effort_line", args=[line.pk]), {
            "low": 5, "likely": 2, "high": 3, "reason": "x", "seen": estimate.lock_version},
            headers={"accept-language": "en"})
    assert "none below zero" in str(answer.context["form"].non_field_errors())


def test_costs_by_page_are_valid_from_a_day_on(client, people):
    client.force_login(people[Role.MANAGER])
    url = reverse("planning:costs")
    for cost in (900, 1000):
        assert client.post(url, {"grade": "senior", "day_cost": cost}).status_code == 302
    below = client.post(url, {"grade": "senior", "day_cost": -1})
    assert (below.status_code, [c.day_cost for c in below.context["costs"]]) == (200, [1000, 900])


def book(person, engagement, model, item, days, start=DAY, grade="senior"):
    for n in range(days):
        time_entries.record_day(actor=person, engagement=engagement, halves=["am", "pm"],
                                model=model,
                        work_date=start + timedelta(days=n), item=item, grade=grade,
                        is_free_day=True)  # weekends are among them


@pytest.mark.slow
def test_experience_corrects_new_estimates(people, engagement, llm, estimate):
    models = [llm, *(_model(people, engagement, f"M{n}") for n in range(2))]
    estimates.approve_estimate(actor=people[Role.MANAGER], estimate=estimate)
    second = estimates.draft_estimate(actor=people[Role.CONSULTANT], engagement=engagement)
    estimates.approve_estimate(actor=people[Role.MANAGER], estimate=second)
    assert calibration.history() == {}
    for n, model in enumerate(models):
        likely = second.lines.get(model=model, item="survey").likely
        book(people[Role.CONSULTANT], engagement, model, "survey", int(likely) + 1,
             DAY + timedelta(days=10 * n))
        StageRecord.objects.filter(model=model, stage="survey").update(
            state=StageState.PASSED, passed_at=timezone.now())
    [row] = calibration.comparison()
    assert (row["estimated"], row["actual"], row["ratio"], row["samples"]) == (
        6, 9, Decimal("1.50"), 3)
    third = estimates.draft_estimate(actor=people[Role.CONSULTANT], engagement=engagement)
    line = third.lines.get(model=llm, item="survey")
    assert (line.low, line.likely, line.high) == (Decimal("1.5"), 3, Decimal("4.5"))
    assert line.basis[-1] == ["history", {"ratio": "1.50", "samples": 3}]


def _model(people, engagement, code):
    from engagements.services import add_model

    return add_model(actor=people[Role.MANAGER], engagement=engagement, code=code, name=code)


def test_two_half_days_a_day_over_all_engagements(people, engagement):
    consultant = people[Role.CONSULTANT]
    other = Engagement.objects.create(code="X2", name="另一项目", customer=engagement.customer)
    Membership.objects.create(engagement=other, user=consultant, role=consultant.role)
    entry = {"actor": consultant, "work_date": DAY, "item": "env", "grade": "engineer"}
    time_entries.record_time(engagement=engagement, half="am", **entry)
    time_entries.record_time(engagement=other, half="pm", **entry)
    for half in ("am", "pm"):
        with pytest.raises(InvalidInput, match="2025-07-01"):
            time_entries.record_time(engagement=other, half=half, **entry)
    with pytest.raises(InvalidInput):
        time_entries.record_day(engagement=engagement, halves=["am", "pm"], **entry)
    assert TimeEntry.objects.count() == 2


def test_whole_day_is_booked_or_nothing(people, engagement):
    entry = {"actor": people[Role.CONSULTANT], "engagement": engagement, "work_date": DAY,
             "item": "env", "grade": "engineer"}
    time_entries.record_time(half="pm", **entry)
    with pytest.raises(InvalidInput):
        time_entries.record_day(halves=["am", "pm"], **entry)
    assert TimeEntry.objects.count() == 1


def test_time_of_others_of_strangers_and_of_tomorrow(people, engagement, stranger):
    entry = {"engagement": engagement, "half": "am", "item": "env", "grade": "engineer"}
    with pytest.raises(NotAllowed):
        time_entries.record_time(actor=people[Role.CONSULTANT], person=people[Role.MANAGER],
                                 work_date=DAY, **entry)
    with pytest.raises(InvalidInput):
        time_entries.record_time(actor=people[Role.MANAGER], person=stranger, work_date=DAY,
                                 **entry)
    with pytest.raises(InvalidInput):
        time_entries.record_time(actor=people[Role.MANAGER], work_date=DAY, today=date(2025, 6, 30),
                                 **entry)


def test_quoted_planned_used_and_margin(people, engagement, llm, estimate, quoted):
    book(people[Role.CONSULTANT], engagement, llm, "adapt", 3)
    senior = next(r for r in usage.days_by_grade(engagement) if r["grade"] == "senior")
    assert (senior["quoted"], senior["planned"], senior["used"], senior["rest"]) == (10, 20, 3, 17)
    assert usage.margin(engagement)["left"] is None
    for grade in ("manager", "expert", "senior", "engineer", "junior"):
        time_entries.set_grade_cost(actor=people[Role.MANAGER], grade=grade, day_cost=Decimal(100))
    found = usage.margin(engagement)
    expected = sum(row["planned"] for row in usage.days_by_grade(engagement)) * 100
    fee = Decimal("18739.50")  # 10 days × 1,873.95
    assert (found["fee"], found["spent"], found["expected"], found["left"]) == (
        fee, 300, expected, fee - expected)


def test_days_over_the_weeks_go_on_as_planned(client, people, engagement, llm, estimate, quoted):
    consultant = people[Role.CONSULTANT]
    book(consultant, engagement, llm, "adapt", 3)
    monday = monday_of(TimeEntry.objects.latest("work_date").work_date)
    today = monday + timedelta(weeks=1)
    plan = plans.draft_plan(actor=people[Role.MANAGER], engagement=engagement, starts_on=today)
    PlannedTask.objects.filter(task__plan=plan).delete()
    PlannedTask.objects.create(task=plan.tasks.first(), person=consultant, first=today,
                               last=today + timedelta(days=8))
    with translation.override("en"):
        chart = burn_up(engagement, usage.effort_of(engagement), today)
    assert {line.name: line.last for line in chart.lines} == {
        "Used so far": 3, "As planned from now on": 3 + 7,  # five working days and two
        "Agreed": 10, "Estimated (likely)": float(estimate.lines.aggregate(n=Sum("likely"))["n"])}
    client.force_login(people[Role.MANAGER])
    page = client.get(reverse("planning:time", args=[engagement.code])).content.decode()
    assert "desk-series" in page


def test_no_time_and_no_plan_draw_nothing(engagement):
    assert burn_up(engagement, usage.effort_of(engagement), DAY) is None


@pytest.fixture
def in_dollars(people, engagement, firm):
    """Issues a quote in dollars with ten person-days, at a rate to the yuan."""
    def issue(rate: str) -> Quote:
        sales = people[Role.SALES]
        quote = quoting.create_quote(actor=sales, engagement=engagement, currency="USD",
                                     exchange_rate=Decimal(rate))
        quoting.add_free_line(actor=sales, quote=quote, code="S-TRAIN", name="迁移",
                              unit="person_day", grade="senior", quantity=Decimal(10),
                              unit_price=Decimal(300), tax_rate=Decimal("0.06"))
        quote.refresh_from_db()
        quoting.submit_quote(actor=sales, quote=quote)
        quoting.review_quote(actor=people[Role.CONSULTANT], quote=quote)
        quoting.approve_quote(actor=people[Role.MANAGER], quote=quote)
        return quoting.issue_quote(actor=sales, quote=quote)
    return issue


def test_dollars_are_turned_into_yuan_before_costs_are_taken_off(
        people, engagement, llm, in_dollars):
    quote = in_dollars("7.2")
    time_entries.set_grade_cost(actor=people[Role.MANAGER], grade="senior", day_cost=Decimal(1000))
    book(people[Role.CONSULTANT], engagement, llm, "adapt", 10)
    found = usage.margin(engagement)
    assert (found["fee"], found["spent"], found["left"], found["percent"]) == (
        Decimal("21600.00"), 10000, Decimal("11600.00"), Decimal("53.70"))
    of_quote = margin_of(quote)  # in dollars: the day costs 138.89
    assert (of_quote.margin, f"{of_quote.rate:.4f}") == (Decimal("1611.11"), "0.5370")
    assert usage.effort_of(engagement).quoted_amount == Decimal("21600.00")


def test_without_a_rate_dollars_are_no_yuan(people, engagement, llm, in_dollars):
    quote = in_dollars("1")
    time_entries.set_grade_cost(actor=people[Role.MANAGER], grade="senior", day_cost=Decimal(1000))
    book(people[Role.CONSULTANT], engagement, llm, "adapt", 10)
    found = usage.margin(engagement)
    assert (found["fee"], found["spent"], found["left"], found["percent"]) == (
        None, 10000, None, None)
    assert (usage.effort_of(engagement).quoted_amount, margin_of(quote).unknown) == (None, 1)


def test_a_quote_in_yuan_has_no_use_for_a_rate(people, engagement, llm, quoted):
    before = usage.effort_of(engagement).quoted_amount
    Quote.objects.update(exchange_rate=Decimal("0.14"))  # for a price list in dollars
    assert usage.effort_of(engagement).quoted_amount == before == Decimal("18739.50")


def test_without_a_quote_there_is_no_margin(people, engagement, llm, estimate):
    for grade in ("manager", "expert", "senior", "engineer", "junior"):
        time_entries.set_grade_cost(actor=people[Role.MANAGER], grade=grade, day_cost=Decimal(100))
    found = usage.margin(engagement)
    assert (found["fee"], found["left"], found["expected"] > 0) == (None, None, True)


@pytest.mark.parametrize("query", ["month=20-25-1", "month=²025-01", "month=2025-99", "person=²",
                                   "person=x", "month=2025-07"])
def test_strange_filters_of_the_time_page_do_no_harm(client, people, engagement, query):
    client.force_login(people[Role.CONSULTANT])
    answer = client.get(reverse("planning:time", args=[engagement.code]) + "?" + query)
    assert answer.status_code == 200


def test_margin_is_for_managers_only(client, people, engagement, llm):
    url = reverse("planning:time", args=[engagement.code])
    shown = {}
    for role in (Role.MANAGER, Role.CONSULTANT, Role.SALES):
        client.force_login(people[role])
        shown[role] = client.get(url).context["margin"] is not None
    assert shown == {Role.MANAGER: True, Role.CONSULTANT: False, Role.SALES: False}


def test_time_page_books_a_day(client, people, engagement, llm):
    client.force_login(people[Role.CONSULTANT])
    url = reverse("planning:time_new", args=[engagement.code])
    fields = {"work_date": "2025-07-01", "halves": ["am", "pm"], "item": "adapt",
              "grade": "senior", "model": llm.pk, "note": "替换三方库"}
    assert client.post(url, fields).status_code == 302
    again = client.post(url, fields)
    assert (again.status_code, TimeEntry.objects.count()) == (200, 2)
    assert "2025-07-01" in str(again.context["form"].non_field_errors())


def test_effort_by_api(client, people, engagement, llm):
    client.force_login(people[Role.CONSULTANT])
    made = client.post("/api/v1/effort-estimates/", {"engagement": engagement.pk}).json()
    line = made["lines"][0]
    body = {"line": line["id"], "low": "1", "likely": "2", "high": "3", "reason": "r", "seen": 1}
    path = f"/api/v1/effort-estimates/{made['id']}/adjust/"
    first, second = client.post(path, body), client.post(path, body)
    assert (first.status_code, second.status_code, second.json()["title"]) == (
        200, 409, "edit_conflict")
    assert second.json()["changes"][0]["after"] == "1.0/2.0/3.0"
    client.force_login(people[Role.REVIEWER])
    assert client.get("/api/v1/effort-estimates/").json()["count"] == 0
    assert client.get("/api/v1/time-entries/").json()["count"] == 0


@pytest.mark.parametrize("day", [date(2025, 10, 1), date(2025, 7, 6), date(2025, 7, 5)])
def test_time_on_a_free_day_asks(engagement, people, day):
    booking = {"actor": people[Role.CONSULTANT], "engagement": engagement, "work_date": day,
               "half": "am", "item": "env", "grade": "expert"}
    with pytest.raises(InvalidInput, match=str(day)):
        time_entries.record_time(**booking)
    made = time_entries.record_time(**booking, is_free_day=True)
    assert made.work_date == day


def test_a_make_up_day_is_a_working_day(engagement, people):
    time_entries.record_time(
        actor=people[Role.CONSULTANT], engagement=engagement, work_date=date(2025, 9, 28),
        half="am", item="env", grade="expert")  # a Sunday, worked for the National Day


def test_holidays_of_a_year_that_is_not_announced_are_provisional():
    assert [is_provisional(year, {}) for year in (2024, 2025, 2060)] == [False, False, True]
    assert provisional_years(date(2025, 12, 1), date(2060, 1, 2), {})[-1] == 2060
    assert provisional_years(date(2024, 1, 1), date(2025, 12, 31), {}) == []
