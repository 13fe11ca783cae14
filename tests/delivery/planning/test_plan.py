"""Plans: dates from links and facts, circles refused, baseline, milestones, the workbook."""

import io
from datetime import date, datetime
from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override
from openpyxl import load_workbook

from delivery.planning.models import Milestone, Task
from delivery.planning.plan.gantt import chart
from delivery.planning.plan.plan_xlsx import HEAD_ROW, plan_xlsx
from delivery.planning.plan.task_dates import end_of, schedule
from delivery.planning.plan.task_names import name_facts, name_of, named_tasks
from delivery.planning.services import estimates, plans
from delivery.quotes.models import Quote
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import Role, StageRecord
from engagements.optimistic_locking import EditConflict
from engagements.services import drop_model
from engagements.stages import Stage
from tests.cached_fixtures import cached_fixture

MONDAY = date(2025, 9, 22)


@pytest.fixture
@cached_fixture
def planned(people, engagement, llm, detector):
    return plans.draft_plan(actor=people[Role.MANAGER], engagement=engagement, starts_on=MONDAY)


def row_of(found, **fields):
    task = found.tasks.get(**fields)
    return next(row for row in schedule(found) if row.task == task)


def test_plan_follows_stages_in_scope_and_the_estimate(people, engagement, llm, detector):
    estimates.draft_estimate(actor=people[Role.CONSULTANT], engagement=engagement)
    found = plans.draft_plan(actor=people[Role.MANAGER], engagement=engagement, starts_on=MONDAY)
    assert found.tasks.filter(model=llm).count() == 8
    assert found.tasks.filter(model=detector).count() == 6
    adapt = found.tasks.get(model=llm, stage="train_adapt")
    assert (adapt.days, adapt.precursors.get().before.stage) == (10, "env")
    survey, design = (row_of(found, model=llm, stage=s) for s in ("survey", "design"))
    assert (survey.start, survey.finish) == (MONDAY, date(2025, 9, 23))
    assert design.start == date(2025, 9, 24)
    with pytest.raises(WrongState):
        plans.draft_plan(actor=people[Role.MANAGER], engagement=engagement, starts_on=MONDAY)


def test_a_task_has_its_name_in_both_languages(people, planned, llm):
    fields = {"title": "试运行", "title_en": "Trial run", "model": llm}
    task = plans.add_task(actor=people[Role.MANAGER], plan=planned, **fields)
    plain = plans.add_task(actor=people[Role.MANAGER], plan=planned, title="培训")
    named = {}
    for language in ("zh-hans", "en"):
        with override(language):
            named[language] = [str(task), name_of(name_facts(task)),
                               dict(named_tasks(planned.tasks.all()))[task.pk], str(plain)]
    assert named == {"zh-hans": [*["LLM · 试运行"] * 3, "培训"],
                     "en": [*["LLM · Trial run"] * 3, "培训"]}


def test_shorter_chain_has_slack_and_holidays_are_skipped(planned, llm, detector):
    long, short = (row_of(planned, model=m, stage="accept") for m in (llm, detector))
    assert (long.dates.slack, short.dates.slack) == (0, 2)
    assert (long.is_critical, short.is_critical) == (True, False)
    # Eight days from 22 September, with 28 September (a Sunday) made up for: 30 is the last.
    assert end_of(schedule(planned)) == date(2025, 9, 30)


def test_lag_counts_working_days(people, planned, llm):
    survey, design = (planned.tasks.get(model=llm, stage=s) for s in ("survey", "design"))
    plans.link_tasks(actor=people[Role.MANAGER], before=survey, after=design, lag=2)
    assert row_of(planned, model=llm, stage="design").start == date(2025, 9, 25)


def test_a_circle_is_refused_with_its_names_and_nothing_is_kept(people, planned, llm):
    survey, env = (planned.tasks.get(model=llm, stage=s) for s in ("survey", "env"))
    with pytest.raises(InvalidInput, match="LLM"):
        plans.link_tasks(actor=people[Role.MANAGER], before=env, after=survey)
    assert not survey.precursors.exists()


def stage_is(task, state):
    """The stage of the task stands there since this moment."""
    now = timezone.now()
    StageRecord.objects.filter(model=task.model, stage=task.stage).update(
        state=state, started_at=now, passed_at=now if state == "passed" else None)
    task.refresh_from_db()


def test_a_task_has_the_state_of_its_stage(people, planned, llm):
    """Plan, matrix and board have one source: nobody types a state, and a stage that is sent back
    is open in the plan too."""
    manager, survey = people[Role.MANAGER], planned.tasks.get(model=llm, stage="survey")
    for fields in ({"started_on": MONDAY}, {"started_on": MONDAY, "finished_on": MONDAY}):
        with pytest.raises(InvalidInput, match="LLM"):
            plans.update_task(actor=manager, task=survey, **fields)
    seen = []
    for state in ("in_progress", "passed", "sent_back", "not_started"):
        stage_is(survey, state)
        row = row_of(planned, model=llm, stage="survey")
        seen.append((row.state, bool(row.task.began_on), bool(row.task.ended_on)))
    assert seen == [("in_progress", True, False), ("passed", True, True),
                    ("in_progress", True, False), ("not_started", False, False)]


@pytest.mark.parametrize("today", [date(2025, 11, 28), date(2025, 11, 29)])  # Friday, Saturday
def test_work_of_a_dropped_model_ends_with_it_and_is_not_finished(people, planned, llm, today,
                                                                  monkeypatch):
    """Else it would be unfinished work for ever, and the plan end a day later every day."""
    monkeypatch.setattr("django.utils.timezone.localdate", lambda *_zone: today)
    drop_model(actor=people[Role.MANAGER], model=llm, reason="合并到另一模型")
    rows = [row for row in schedule(planned) if row.task.model_id == llm.pk]
    assert {(row.state, row.finish <= today) for row in rows} == {("skipped", True)}


def test_facts_move_what_follows_and_the_baseline_shows_it(people, planned, llm):
    manager = people[Role.MANAGER]
    plans.take_baseline(actor=manager, plan=planned)
    survey = planned.tasks.get(model=llm, stage="survey")
    stage_is(survey, "passed")
    plans.update_task(actor=manager, task=survey, started_on=date(2025, 9, 23),
                      finished_on=date(2025, 9, 25))
    design = row_of(planned, model=llm, stage="design")
    assert (design.start, design.baseline_start, design.slip) == (
        date(2025, 9, 26), date(2025, 9, 23), 3)
    with pytest.raises(InvalidInput):
        plans.take_baseline(actor=manager, plan=planned, reason=" ")
    second = plans.take_baseline(actor=manager, plan=planned, reason="客户数据晚到")
    assert (second.version, row_of(planned, model=llm, stage="design").slip) == (2, 0)


@pytest.mark.parametrize("fields", [
    {"finished_on": MONDAY}, {"started_on": date(2025, 9, 1)}, {"days": 501},
    {"started_on": date(2025, 9, 25), "finished_on": date(2025, 9, 24)},
    {"started_on": date(9999, 1, 1)}, {"not_before": date(9999, 12, 31)}])
def test_impossible_tasks_are_refused(people, planned, llm, fields):
    with pytest.raises(InvalidInput):
        plans.update_task(actor=people[Role.MANAGER], task=planned.tasks.first(), **fields)


def test_a_plan_without_end_is_refused_and_the_page_still_opens(client, people, planned):
    manager = people[Role.MANAGER]
    tasks = list(planned.tasks.filter(model__code="LLM"))
    for task in tasks[:4]:
        plans.update_task(actor=manager, task=task, days=500)
    with pytest.raises(InvalidInput):
        plans.update_task(actor=manager, task=tasks[4], days=500)
    client.force_login(manager)
    assert client.get(reverse("planning:plan", args=["EP2501"])).status_code == 200


def test_owner_is_of_the_team_and_consultants_do_not_plan(people, planned, stranger):
    task = planned.tasks.first()
    with pytest.raises(InvalidInput):
        plans.update_task(actor=people[Role.MANAGER], task=task, owner=stranger)
    with pytest.raises(NotAllowed):
        plans.update_task(actor=people[Role.CONSULTANT], task=task, days=3)


def test_second_writer_of_a_task_sees_the_first_change(people, planned):
    task = planned.tasks.first()
    plans.update_task(actor=people[Role.MANAGER], task=task, seen=1, days=4)
    with pytest.raises(EditConflict) as caught:
        plans.update_task(actor=people[Role.ADMINISTRATOR], task=task, seen=1, days=9)
    [change] = caught.value.details["changes"]
    assert (change["who"], change["before"], change["after"]) == ("Manager", "1", "4")


def milestone(percent, **fields):
    return {"name": "里程碑", "name_en": "", "percent": Decimal(percent), "trigger": "FA",
            "task": None, **fields}


@pytest.mark.parametrize("percents", [["30", "40", "29.99"], ["50", "50.01"], ["-1", "101"], []])
def test_milestones_must_add_up_to_100(people, planned, percents):
    plans.set_milestones(actor=people[Role.MANAGER], plan=planned, rows=[milestone("100")])
    with pytest.raises(InvalidInput):
        plans.set_milestones(actor=people[Role.MANAGER], plan=planned,
                             rows=[milestone(p) for p in percents])
    assert Milestone.objects.get().percent == 100


def test_workbook_says_what_the_plan_says(people, planned, llm):
    manager = people[Role.MANAGER]
    plans.update_task(actor=manager, task=planned.tasks.get(model=llm, stage="survey"),
                      title="=HYPERLINK(1)", days=2)
    accept = planned.tasks.get(model=llm, stage="accept")
    plans.set_milestones(actor=manager, plan=planned, rows=[milestone("100", task=accept)])
    tasks, milestones = load_workbook(io.BytesIO(plan_xlsx(planned))).worksheets
    rows = list(tasks.iter_rows(min_row=HEAD_ROW + 1, values_only=True))
    scheduled = schedule(planned)
    assert [r[5].date() for r in rows] == [s.start for s in scheduled]
    assert [r[6].date() for r in rows] == [s.finish for s in scheduled]
    assert rows[1][14] == "1FS"
    assert all(cell.data_type != "f" for row in tasks.iter_rows() for cell in row)
    assert milestones.cell(HEAD_ROW + 1, 5).value == datetime.combine(
        end_of(scheduled), datetime.min.time())


def test_plan_page_shows_bars_dates_and_the_critical_path(client, people, planned, llm):
    client.force_login(people[Role.REVIEWER])
    page = client.get(reverse("planning:plan", args=["EP2501"])).content.decode()
    assert page.count('class="desk-gantt-bar') == 14 + page.count("is-segment")
    assert page.count("desk-gantt-bar is-critical") == 8
    assert "2025-09-22 – 2025-09-22" in page
    assert "left:0.0%;width:11.111%" in page


def test_a_model_s_stages_stand_in_one_row_from_first_start_to_last_finish(planned, llm):
    scheduled = schedule(planned)
    row = next(row for row in chart(scheduled, MONDAY).models if row.model == llm)
    of_model = [each for each in scheduled if each.task.model == llm]
    assert [segment.name for segment in row.segments] == list(dict.fromkeys(
        str(Stage(each.task.stage).label) for each in of_model))
    assert (row.start, row.finish) == (min(each.start for each in of_model),
                                       max(each.finish for each in of_model))
    for segment in row.segments:
        tasks = [each for each in of_model if Stage(each.task.stage).label == segment.name]
        assert segment.is_critical == any(each.is_critical for each in tasks)
        assert not segment.is_done


@pytest.mark.parametrize(("days", "labels"), [
    (1, ["2025-09"]), (20, ["2025-09", "2025-10"]), (60, ["2025-10", "2025-11", "2025-12"]),
    (47, ["2025-09", "2025-10", "2025-11"])])  # 2025-12-01, its last day, would leave the chart
def test_every_month_of_the_chart_is_named_where_there_is_room(people, engagement, llm, days,
                                                               labels):
    found = plans.draft_plan(actor=people[Role.MANAGER], engagement=engagement, starts_on=MONDAY)
    found.tasks.all().delete()
    plans.add_task(actor=people[Role.MANAGER], plan=found, title="x", days=days)
    assert [label for label, _left in chart(schedule(found), MONDAY).months] == labels


@pytest.mark.slow
def test_milestones_by_page(client, people, planned, quoted):
    """They begin as the agreed payments; before those there is no standard in their place."""
    client.force_login(people[Role.MANAGER])
    url = reverse("planning:milestones", args=["EP2501"])
    Quote.objects.update(state="draft")
    assert not any(form.initial for form in client.get(url).context["sheet"].forms)
    Quote.objects.update(state="issued")
    shown = client.get(url).context["sheet"]
    fields = {"form-TOTAL_FORMS": 6, "form-INITIAL_FORMS": 3, "form-MIN_NUM_FORMS": 0,
              "form-MAX_NUM_FORMS": 12}
    for n, form in enumerate(shown.forms):
        for name in ("name", "name_en", "percent", "trigger", "task"):
            fields[f"form-{n}-{name}"] = form.initial.get(name) or ""
    wrong = client.post(url, {**fields, "form-0-percent": "31"})
    assert (wrong.status_code, planned.milestones.count()) == (200, 0)
    assert client.post(url, fields).status_code == 302
    assert [str(m.percent) for m in planned.milestones.all()] == ["30.00", "40.00", "30.00"]


def test_task_by_page_is_linked_and_changed(client, people, planned, llm):
    client.force_login(people[Role.MANAGER])
    client.post(reverse("planning:task_new", args=["EP2501"]), {"title": "机房准入", "days": 3})
    task = planned.tasks.get(title="机房准入")
    survey = planned.tasks.get(model=llm, stage="survey")
    client.post(reverse("planning:task_link", args=[survey.pk]), {"before": task.pk, "lag": 1})
    assert row_of(planned, model=llm, stage="survey").start == date(2025, 9, 26)
    answer = client.post(reverse("planning:task", args=[task.pk]), {
        "title": "机房准入", "days": 2, "started_on": "2025-09-22", "seen": task.lock_version})
    assert answer.status_code == 302
    wrong = client.post(reverse("planning:task", args=[task.pk]), {
        "title": "", "days": 2, "seen": task.lock_version + 1})
    assert (wrong.status_code, planned.tasks.get(pk=task.pk).title) == (200, "机房准入")


def test_plan_by_api(client, people, engagement, llm, stranger):
    client.force_login(people[Role.MANAGER])
    made = client.post("/api/v1/plans/", {"engagement": engagement.pk,
                                          "starts_on": "2025-09-22"}).json()
    path = f"/api/v1/plans/{made['id']}/"
    dates = client.get(path + "schedule/").json()
    assert [d["start"] for d in dates[:2]] == ["2025-09-22", "2025-09-23"]
    task = {"plan": made["id"], "stage": "survey", "days": 3, "seen": 1}
    url = f"/api/v1/plan-tasks/{dates[0]['task']}/"
    first, second = (client.patch(url, task, content_type="application/json") for _ in range(2))
    assert (first.status_code, second.status_code) == (200, 409)
    circle = client.post("/api/v1/plan-dependencies/", {
        "before": dates[-1]["task"], "after": dates[0]["task"], "lag": 0})
    wrong = client.put(path + "milestones/", [milestone("99")], content_type="application/json")
    assert (circle.status_code, wrong.status_code) == (400, 400)
    client.force_login(stranger)
    assert client.get(path).status_code == 404
    client.force_login(people[Role.REVIEWER])
    assert (client.get(path).status_code, client.delete(url).status_code) == (200, 403)


def test_long_plan_is_shown_by_pages_with_the_same_queries(client, people, engagement):
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    from engagements import services as engagement_services

    def opened(number=1):
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(reverse("planning:plan", args=["EP2501"]), {"page": number})
        return answer, queries.final_queries - queries.initial_queries

    engagement_services.add_model(actor=people[Role.MANAGER], engagement=engagement, code="A",
                                  name="A")
    made = plans.draft_plan(actor=people[Role.MANAGER], engagement=engagement,
                            starts_on=date(2025, 9, 22))
    client.force_login(people[Role.MANAGER])
    opened()
    few = opened()[1]
    Task.objects.bulk_create(Task(plan=made, title=f"T{n}", days=1, position=100 + n)
                             for n in range(130))
    answer, many = opened(2)
    assert (many, len(answer.context["chart"].rows)) == (few, 38)
    assert answer.context["chart"].rows[-1].scheduled.task.title == "T129"


def test_unfinished_work_cannot_end_before_today(planned, people, on_day):
    """Three weeks later nothing that was begun or waits lies in the past."""
    later = date(2025, 10, 20)
    survey = planned.tasks.order_by("position").first()
    stage_is(survey, "in_progress")
    plans.update_task(actor=people[Role.MANAGER], task=survey, started_on=MONDAY)
    before = end_of(schedule(planned))
    on_day(later)
    rows = schedule(planned)
    begun = next(row for row in rows if row.task.pk == survey.pk)
    assert (begun.start, begun.finish) == (MONDAY, later)
    assert min(row.start for row in rows if row.task.pk != survey.pk) >= later
    assert end_of(rows) > before
    stage_is(survey, "passed")
    plans.update_task(actor=people[Role.MANAGER], task=survey, finished_on=date(2025, 9, 24))
    rows = schedule(planned)
    assert next(row for row in rows if row.task.pk == survey.pk).finish == date(2025, 9, 24)


def test_reason_of_a_baseline_has_the_limit_of_the_api(client, people, planned):
    client.force_login(people[Role.MANAGER])
    url = reverse("planning:plan_baseline", args=["EP2501"])
    client.post(url, {"reason": "x" * 241})
    assert planned.baselines.count() == 0
    client.post(url, {"reason": "x" * 240})
    assert planned.baselines.get().reason == "x" * 240
