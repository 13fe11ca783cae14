"""Risks, issues, minutes and weekly reports: numbers, owners, locking, what really happened."""

from datetime import UTC, date, datetime, timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone, translation

from delivery.planning.control.transitions import weekly_hash
from delivery.planning.control.weekly_facts import week_facts
from delivery.planning.models import Meeting, PlanBaseline, Risk, Todo, WeeklyReport
from delivery.planning.plan.task_names import name_of
from delivery.planning.services import control, plans, time_entries, weekly_reports
from engagements.audit import audit_log
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import AuditEntry, Role, StageTransition
from engagements.optimistic_locking import EditConflict
from workers.models import Job, JobState

MONDAY = date(2025, 7, 7)
MONDAY_MORNING = datetime(2025, 7, 7, 1, tzinfo=UTC)
SUNDAY_NIGHT = datetime(2025, 7, 13, 15, 59, tzinfo=UTC)  # 23:59 in Shanghai


def risk_fields(people, **fields):
    return {"title": "算子缺失", "probability": 4, "impact": 5, "owner": people[Role.CONSULTANT],
            "response": "提前验证", "review_on": date(2025, 7, 10), **fields}


@pytest.fixture
def risk(people, engagement):
    return control.add_risk(actor=people[Role.CONSULTANT], engagement=engagement,
                            **risk_fields(people))


def test_risks_are_numbered_and_weighed(people, engagement, risk):
    second = control.add_risk(actor=people[Role.MANAGER], engagement=engagement,
                              **risk_fields(people, probability=2, impact=3))
    assert [(r.number, r.score, r.severity) for r in (risk, second)] == [
        (1, 20, "high"), (2, 6, "medium")]


def test_owner_is_of_the_firm_s_team(people, engagement, stranger):
    for person in (stranger, people[Role.REVIEWER]):
        with pytest.raises(InvalidInput):
            control.add_risk(actor=people[Role.MANAGER], engagement=engagement,
                             **risk_fields(people, owner=person))


def test_second_writer_of_a_risk_sees_the_first_change(people, risk):
    control.update_risk(actor=people[Role.MANAGER], risk=risk, seen=1, impact=2)
    with translation.override("en"), pytest.raises(EditConflict) as caught:
        control.update_risk(actor=people[Role.CONSULTANT], risk=risk, seen=1, impact=1)
    assert caught.value.details["changes"][0] | {"at": ""} == {
        "who": "Manager", "at": "", "field": "impact", "before": "5", "after": "2"}
    risk.refresh_from_db()
    assert (risk.impact, risk.lock_version) == (2, 2)


def test_risk_page_puts_the_risk_into_its_cell(client, people, engagement, risk):
    client.force_login(people[Role.CONSULTANT])
    answer = client.get(reverse("planning:control", args=["EP2501"]))
    cells = [[[r.number for r in cell["risks"]] for cell in row["cells"]]
             for row in answer.context["matrix"]]
    assert cells[1][4] == [1]
    assert sum(len(cell) for row in cells for cell in row) == 1
    edited = client.post(reverse("planning:risk", args=[risk.pk]), {
        **risk_fields(people, owner=people[Role.CONSULTANT].pk, state="closed"), "seen": 1})
    risk.refresh_from_db()
    assert (edited.status_code, risk.state) == (302, "closed")


def test_issue_is_not_closed_before_it_was_raised(people, engagement, llm):
    fields = {"description": "精度差 0.3 %", "level": "major", "raised_on": MONDAY, "model": llm,
              "owner": people[Role.CONSULTANT], "due_on": MONDAY + timedelta(days=4)}
    issue = control.add_issue(actor=people[Role.CONSULTANT], engagement=engagement, **fields)
    with pytest.raises(InvalidInput):
        control.update_issue(actor=people[Role.CONSULTANT], issue=issue,
                             closed_on=MONDAY - timedelta(days=1))
    control.update_issue(actor=people[Role.CONSULTANT], issue=issue, closed_on=MONDAY)
    issue.refresh_from_db()
    assert (str(issue), issue.closed_on) == ("I-001 精度差 0.3 %", MONDAY)


def test_minutes_and_to_dos_are_kept_together_or_not_at_all(people, engagement, stranger):
    fields = {"actor": people[Role.CONSULTANT], "engagement": engagement, "topic": "周会",
              "held_at": SUNDAY_NIGHT, "chair": "林雪", "participants": "双方",
              "decisions": "延长一周\n\n增加一张卡 "}
    todo = {"text": "提供数据集", "owner": people[Role.MANAGER], "due_on": MONDAY}
    with pytest.raises(InvalidInput):
        control.record_meeting(todos=[todo, {**todo, "owner": stranger}], **fields)
    assert (Meeting.objects.count(), Todo.objects.count()) == (0, 0)
    made = control.record_meeting(todos=[todo], **fields)
    assert (made.decision_lines, made.todos.get().owner) == (
        ["延长一周", "增加一张卡"], people[Role.MANAGER])


def test_the_second_writer_of_minutes_sees_what_changed(client, people, engagement):
    made = control.record_meeting(
        actor=people[Role.CONSULTANT], engagement=engagement, topic="周会", held_at=SUNDAY_NIGHT,
        chair="林雪", participants="双方", decisions="延长一周")
    control.update_meeting(actor=people[Role.MANAGER], meeting=made, seen=1, decisions="延长两周")
    client.force_login(people[Role.CONSULTANT])
    form = {"topic": "周会", "held_at": "2025-07-07T09:30", "chair": "林雪",
            "participants": "双方", "decisions": "不延长", "seen": 1}
    page = client.post(reverse("planning:meeting_edit", args=[made.pk]), form).content.decode()
    assert "延长一周 → 延长两周" in page
    made.refresh_from_db()
    assert made.decisions == "延长两周"
    assert client.patch(f"/api/v1/meetings/{made.pk}/", {"chair": "x", "seen": 1},
                        content_type="application/json").status_code == 409
    client.post(reverse("planning:meeting_edit", args=[made.pk]), {
        **form, "seen": 2, "files": [SimpleUploadedFile("签到.txt", b"a")]})
    made.refresh_from_db()
    assert (made.decisions, made.lock_version, made.attachments.get().name) == (
        "不延长", 3, "签到.txt")


def test_to_do_is_finished_once_by_its_owner_or_a_manager(people, engagement):
    todo = control.add_todo(actor=people[Role.MANAGER], engagement=engagement, text="x",
                            owner=people[Role.SALES], due_on=MONDAY)
    with pytest.raises(NotAllowed):
        control.finish_todo(actor=people[Role.CONSULTANT], todo=todo)
    assert control.finish_todo(actor=people[Role.SALES], todo=todo).done_by == people[Role.SALES]
    with pytest.raises(WrongState):
        control.finish_todo(actor=people[Role.MANAGER], todo=todo)


def test_minutes_by_page(client, people, engagement):
    client.force_login(people[Role.CONSULTANT])
    rows = {"todo-TOTAL_FORMS": 4, "todo-INITIAL_FORMS": 0, "todo-0-text": "补数据",
            "todo-0-owner": people[Role.MANAGER].pk, "todo-0-due_on": "2025-07-10"}
    answer = client.post(reverse("planning:meeting_new", args=["EP2501"]), {
        "topic": "启动会", "held_at": "2025-07-07T09:30", "chair": "林雪", "participants": "双方",
        "decisions": "按方案执行", "agenda": "范围\n\n计划", **rows,
        "files": [SimpleUploadedFile("范围.txt", b"a"), SimpleUploadedFile("plan.txt", b"b")]})
    meeting = Meeting.objects.get()
    assert answer.url == reverse("planning:meeting", args=[meeting.pk])
    assert meeting.held_at == datetime(2025, 7, 7, 1, 30, tzinfo=UTC)
    page = client.get(answer.url).content.decode()
    assert ("补数据" in page, "按方案执行" in page) == (True, True)
    assert (meeting.agenda_lines, "plan.txt" in page) == (["范围", "计划"], True)
    assert [file.name for file in meeting.attachments.order_by("pk")] == ["范围.txt", "plan.txt"]


@pytest.fixture
def busy_week(people, engagement, llm):
    """A week with a gate, jobs, days and an open issue; and the same a minute too late."""
    record = llm.stages.get(stage="survey")
    for at, n in ((SUNDAY_NIGHT, 1), (SUNDAY_NIGHT + timedelta(minutes=1), 2)):
        StageTransition.objects.create(
            record=record, move="start" if n == 1 else "submit", from_state="not_started",
            to_state="in_progress", actor=people[Role.CONSULTANT], at=at)
        Job.objects.create(kind="env.npu_info", engagement=engagement, finished_at=at,
                           state=JobState.SUCCEEDED if n == 1 else JobState.FAILED)
    for day in (MONDAY, MONDAY + timedelta(days=7)):
        time_entries.record_day(actor=people[Role.CONSULTANT], engagement=engagement, halves=["am"],
                                work_date=day, item="survey", grade="expert", model=llm)
    control.add_issue(actor=people[Role.CONSULTANT], engagement=engagement, description="x",
                      level="blocking", raised_on=MONDAY, owner=people[Role.CONSULTANT],
                      due_on=MONDAY)
    plans.draft_plan(actor=people[Role.MANAGER], engagement=engagement, starts_on=MONDAY)
    return engagement


def test_week_holds_what_happened_in_it_and_nothing_else(busy_week, llm, on_day):
    on_day(MONDAY)
    facts = week_facts(busy_week, MONDAY)
    assert [m["move"] for m in facts["moves"]] == ["start"]
    assert facts["jobs"] == {"succeeded": 1}
    assert facts["days"] == [{"person": "Consultant", "person_en": "", "days": 0.5}]
    assert facts["issues"] == {"blocking": 1}
    last_three = llm.plan_tasks.filter(stage__in=["infer_migrate", "infer_tune", "accept"])
    assert [name_of(task) for task in facts["plan"]["next"]] == list(map(str, last_three))


def test_a_week_is_told_as_it_stood_at_its_end(people, busy_week, risk, on_day, llm):
    """A report that is written later knows nothing of later: no change, date, risk or signature."""
    plan, manager = busy_week.plan, people[Role.MANAGER]
    on_day(MONDAY)
    plans.take_baseline(actor=manager, plan=plan)
    PlanBaseline.objects.update(taken_at=MONDAY_MORNING)
    AuditEntry.objects.filter(action="risk.add").update(at=MONDAY_MORNING)
    on_day(MONDAY + timedelta(days=6))
    then = week_facts(busy_week, MONDAY)
    assert [row["risk"][:5] for row in then["risks"]] == ["R-001"]
    # Months later: the plan was agreed anew, all was finished, signed and closed.
    plans.update_task(actor=manager, task=plan.tasks.last(), days=200)
    plans.take_baseline(actor=manager, plan=plan, reason="变更")
    control.update_issue(actor=manager, issue=busy_week.project_issues.get(),
                         closed_on=MONDAY + timedelta(days=40))
    control.update_risk(actor=manager, risk=risk, state=Risk.State.CLOSED)
    llm.stages.update(state="passed", passed_at=timezone.now())
    on_day(MONDAY + timedelta(days=300))
    late = week_facts(busy_week, MONDAY)
    same = ("end", "in_progress", "late", "finished")
    assert {key: late["plan"][key] for key in same} == {key: then["plan"][key] for key in same}
    for key in ("risks", "issues", "open_issues", "resources", "signed", "documents"):
        assert late[key] == then[key], key


def test_what_was_withdrawn_is_not_told_as_signed(people, busy_week):
    for action, label in (("document.issue", "A"), ("document.issue", "B"),
                          ("document.sign", "B"), ("document.withdraw", "A")):
        audit_log.record(actor=people[Role.MANAGER], action=action, target=busy_week,
                         engagement=busy_week)
        AuditEntry.objects.filter(action=action, target_label=str(busy_week)).update(
            at=MONDAY_MORNING, target_label=label)
    facts = week_facts(busy_week, MONDAY)
    assert [facts[key] for key in ("documents", "signed", "withdrawn")] == [["B"], ["B"], ["A"]]


def test_draft_is_written_from_the_facts(people, busy_week):
    with translation.override("en"):
        report = weekly_reports.draft_weekly(actor=people[Role.CONSULTANT], engagement=busy_week,
                                             day=MONDAY + timedelta(days=3))
    assert (report.week_start, report.light) == (MONDAY, WeeklyReport.Light.RED)
    assert report.summary.splitlines() == [
        "LLM · Survey: Start (Consultant)", "Jobs finished: Ran 1.",
        "Person-days: Consultant 0.5."]
    assert report.problems.splitlines() == [
        "Open issues: Blocking 1.", f"I-001 x, overdue since {MONDAY}"]
    with pytest.raises(WrongState):
        weekly_reports.draft_weekly(actor=people[Role.MANAGER], engagement=busy_week, day=MONDAY)


def test_frozen_report_never_changes(people, busy_week):
    manager = people[Role.MANAGER]
    report = weekly_reports.draft_weekly(actor=manager, engagement=busy_week, day=MONDAY)
    weekly_reports.update_weekly(actor=manager, report=report, seen=1, summary="完成调研")
    frozen = weekly_reports.freeze_weekly(actor=manager, report=report)
    Job.objects.create(kind="env.npu_info", engagement=busy_week, finished_at=SUNDAY_NIGHT,
                       state=JobState.FAILED)
    for service in (weekly_reports.update_weekly, weekly_reports.refresh_weekly,
                    weekly_reports.freeze_weekly):
        with pytest.raises(WrongState):
            service(actor=manager, report=report)
    stored = WeeklyReport.objects.get()
    assert (stored.summary, stored.facts["jobs"]) == ("完成调研", {"succeeded": 1})
    assert weekly_hash(stored) == stored.content_hash == frozen.content_hash
    with pytest.raises(InvalidInput):
        weekly_reports.correct_weekly(actor=manager, report=report, reason=" ")
    weekly_reports.correct_weekly(actor=manager, report=report, reason="漏记一个作业")
    again = weekly_reports.freeze_weekly(actor=manager, report=report)
    assert (str(again), again.correction) == (f"{stored}-V2", "漏记一个作业")
    assert again.content_hash != stored.content_hash
    entry = AuditEntry.objects.filter(action="weekly.correct").get()
    assert entry.data["before"] == stored.content_hash


def test_report_by_page(client, people, busy_week):
    client.force_login(people[Role.CONSULTANT])
    made = client.post(reverse("planning:weekly_draft", args=["EP2501"]), {"day": "2025-07-09"})
    report = WeeklyReport.objects.get()
    fields = {"light": "yellow", "summary": "改写", "seen": 1}
    saved = client.post(made.url, fields)
    late = client.post(made.url, fields)
    assert (saved.status_code, late.status_code) == (302, 200)
    client.post(reverse("planning:weekly_freeze", args=[report.pk]))
    report.refresh_from_db()
    assert (report.summary, report.light, report.state) == ("改写", "yellow", "draft")
    client.force_login(people[Role.MANAGER])
    client.post(reverse("planning:weekly_freeze", args=[report.pk]))
    report.refresh_from_db()
    assert report.state == "frozen"
    assert client.get(made.url).context["form"] is None


def test_every_write_leaves_an_entry_and_customers_see_nothing(client, people, risk):
    assert AuditEntry.objects.filter(action="risk.add", target_id=str(risk.pk)).count() == 1
    client.force_login(people[Role.REVIEWER])
    assert client.get(reverse("planning:control", args=["EP2501"])).status_code == 403
    assert client.get(reverse("planning:risk", args=[risk.pk])).status_code == 404


def test_control_by_api(client, people, engagement, risk, stranger):
    client.force_login(people[Role.CONSULTANT])
    path, body = f"/api/v1/risks/{risk.pk}/", {"impact": 1, "seen": 1}
    first, second = (client.patch(path, body, content_type="application/json") for _ in range(2))
    assert (first.json()["score"], second.status_code) == (4, 409)
    todo = client.post("/api/v1/todos/", {
        "engagement": engagement.pk, "text": "x", "owner": people[Role.CONSULTANT].pk,
        "due_on": "2025-07-10"}).json()
    assert client.post(f"/api/v1/todos/{todo['id']}/finish/").json()["done_at"]
    meeting = client.post("/api/v1/meetings/", {
        "engagement": engagement.pk, "topic": "周会", "held_at": "2025-07-07T09:30:00+08:00",
        "chair": "林雪", "participants": "双方", "todos": [
            {"text": "y", "owner": people[Role.CONSULTANT].pk, "due_on": "2025-07-11"}]},
        content_type="application/json").json()
    assert Todo.objects.get(meeting=meeting["id"]).text == "y"
    report = client.post("/api/v1/weekly-reports/", {
        "engagement": engagement.pk, "day": "2025-07-09"}).json()
    assert report["week_start"] == "2025-07-07"
    client.force_login(people[Role.REVIEWER])
    assert client.get(path).status_code == 404
    client.force_login(stranger)
    assert client.get(f"/api/v1/weekly-reports/{report['id']}/").status_code == 404
