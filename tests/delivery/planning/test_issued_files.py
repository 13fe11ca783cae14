"""Files of planning documents: what was put out is stored, all else is a working copy."""

from dataclasses import replace
from datetime import date
from io import BytesIO

import openpyxl
import pytest
from celery.canvas import Signature
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override

from delivery.documents.issued_files import FileNotReady
from delivery.documents.models import CompanyProfile
from delivery.documents.services.branding import save_branding
from delivery.planning import document_files, pdf_documents, tasks
from delivery.planning.document_files import KINDS, planning_file
from delivery.planning.models import TimesheetFile
from delivery.planning.services import changes, plans, timesheets, weekly_reports
from delivery.planning.services.files import store_planning_files
from engagements.models import AuditEntry, Role
from tests.delivery.planning.test_pdf_documents import words


@pytest.fixture(autouse=True)
def _in_english():
    with override("en"):
        yield


@pytest.fixture
def quick(monkeypatch):
    """Renderers that print document, state and language; the list of their calls."""
    calls = []

    def render(row, language):
        calls.append((str(row), language))
        return f"{row} {row.state} {getattr(row, 'result', '')} {language}".encode()

    for key in ("weekly", "change", "timesheet"):
        monkeypatch.setitem(KINDS, key, replace(KINDS[key], render=render))
    return calls


@pytest.fixture
def messages(monkeypatch):
    """What was sent to the queue: (task, arguments)."""
    sent = []
    monkeypatch.setattr(Signature, "apply_async", lambda self, **_options: sent.append(
        (self.task, self.args)))
    return sent


@pytest.fixture
def frozen(people, report):
    weekly_reports.update_weekly(actor=people[Role.CONSULTANT], report=report, summary="done")
    return weekly_reports.freeze_weekly(actor=people[Role.MANAGER], report=report)


def states(row) -> list[str]:
    """The state of every stored file, in the order of the editions."""
    return list(row.files.values_list("state", flat=True))


def test_each_step_of_a_timesheet_asks_for_files(
        people, sheet, quick, messages, django_capture_on_commit_callbacks):
    assert store_planning_files("timesheet", sheet.pk) == 2
    with django_capture_on_commit_callbacks(execute=True):
        timesheets.answer_timesheet(actor=people[Role.REVIEWER], timesheet=sheet,
                                    is_confirmed=True)
    assert messages == [("planning.store_files", ("timesheet", sheet.pk))]
    tasks.store_files("timesheet", sheet.pk)
    assert states(sheet) == ["submitted"] * 2 + ["confirmed"] * 2
    assert store_planning_files("timesheet", sheet.pk) == 0


def test_a_month_is_put_out_with_files(
        people, engagement, llm, quick, messages, django_capture_on_commit_callbacks):
    from delivery.planning.services import time_entries

    time_entries.record_time(half="am", actor=people[Role.CONSULTANT], engagement=engagement,
                             work_date=date(2025, 9, 23), item="adapt", grade="senior", model=llm)
    with django_capture_on_commit_callbacks(execute=True):
        sheet = timesheets.confirm_month(
            actor=people[Role.MANAGER], engagement=engagement, month=date(2025, 9, 1))
    assert messages == [("planning.store_files", ("timesheet", sheet.pk))]
    with django_capture_on_commit_callbacks(execute=True):
        timesheets.withdraw_timesheet(actor=people[Role.MANAGER], timesheet=sheet, reason="x")
    assert len(messages) == 2


def test_editions_of_a_change_order(people, change, quick):
    def stored_now() -> bytes:
        assert store_planning_files("change", change.pk) == 2
        change.refresh_from_db()
        return planning_file(change, "en")

    seen = [stored_now()]
    for role in (Role.MANAGER, Role.REVIEWER):
        changes.approve_change(actor=people[role], change=change)
        with pytest.raises(FileNotReady):
            planning_file(type(change).objects.get(pk=change.pk), "en")
        seen.append(stored_now())
    for result in ("first word", "last word"):
        changes.record_result(actor=people[Role.CONSULTANT], change=change, result=result)
        seen.append(stored_now())
    assert states(change) == ["submitted"] * 4 + ["applied"] * 6
    assert (b"first word" in seen[3], b"last word" in seen[4]) == (True, True)
    assert change.files.count() == len(quick) == 10


def test_each_step_of_a_change_asks_for_files(
        people, change, quick, messages, django_capture_on_commit_callbacks):
    asked = ("planning.store_files", ("change", change.pk))
    for role in (Role.MANAGER, Role.REVIEWER):
        with django_capture_on_commit_callbacks(execute=True):
            changes.approve_change(actor=people[role], change=change)
    assert messages.count(asked) == 2
    with django_capture_on_commit_callbacks(execute=True):
        changes.record_result(actor=people[Role.CONSULTANT], change=change, result="done")
    assert messages.count(asked) == 3


def test_a_rejected_change_has_files_of_its_own(people, change, quick):
    store_planning_files("change", change.pk)
    changes.reject_change(actor=people[Role.REVIEWER], change=change, reason="too late")
    assert store_planning_files("change", change.pk) == 2
    assert states(change) == ["submitted"] * 2 + ["rejected"] * 2


def test_only_a_frozen_report_is_stored(people, report, quick):
    assert store_planning_files("weekly", report.pk) == 0
    weekly_reports.update_weekly(actor=people[Role.CONSULTANT], report=report, summary="done")
    weekly_reports.freeze_weekly(actor=people[Role.MANAGER], report=report)
    assert store_planning_files("weekly", report.pk) == 2
    logged = AuditEntry.objects.filter(action="weekly.file", target_id=str(report.pk))
    assert {entry.data["sha256"] for entry in logged} == set(
        report.files.values_list("sha256", flat=True))


def test_the_sweep_finds_what_is_missing(people, frozen, sheet, change, quick,
                                         messages):
    [baseline] = frozen.engagement.plan.baselines.all()
    rows = {("weekly", frozen.pk), ("timesheet", sheet.pk), ("change", change.pk),
            ("plan_baseline", baseline.pk)}
    tasks.sweep()
    assert {arguments for _task, arguments in messages} == rows
    for key, pk in rows:
        store_planning_files(key, pk)
    changes.approve_change(actor=people[Role.MANAGER], change=change)
    timesheets.answer_timesheet(actor=people[Role.REVIEWER], timesheet=sheet, is_confirmed=True)
    frozen.files.first().delete()
    baseline.files.first().delete()
    messages.clear()
    tasks.sweep()
    assert {arguments for _task, arguments in messages} == rows
    for key, pk in rows:
        store_planning_files(key, pk)
    messages.clear()
    tasks.sweep()
    assert messages == []


def test_one_broken_document_does_not_stop_the_rest(frozen, sheet, quick, messages,
                                                    monkeypatch, caplog):
    def fail(row, language):
        raise ZeroDivisionError

    monkeypatch.setitem(KINDS, "weekly", replace(KINDS["weekly"], render=fail))
    tasks.sweep()
    for _task, arguments in messages:
        tasks.store_files(*arguments)
    assert (frozen.files.count(), sheet.files.count()) == (0, 2)
    assert str(frozen) in caplog.text


@pytest.mark.slow
def test_a_download_stays_as_it_was_put_out(client, api, people, sheet):
    """Company profile and branding, which the print takes as they are now, have changed since."""
    page = reverse("planning:pdf", args=["timesheet", sheet.pk, "en"])
    url = f"/api/v1/timesheets/{sheet.pk}/pdf/?language=en"
    client.force_login(people[Role.REVIEWER])
    assert client.get(page).url == reverse("planning:timesheet", args=[sheet.pk])
    waiting = api(Role.REVIEWER).get(url)
    assert (waiting.status_code, waiting["Retry-After"]) == (409, "10")
    store_planning_files("timesheet", sheet.pk)
    before = client.get(page).content
    CompanyProfile.objects.update(name_en="Another Firm Ltd.")
    save_branding(actor=people[Role.ADMINISTRATOR], customer=None, colour="#0a5c36")
    assert client.get(page).content == api(Role.REVIEWER).get(url).content == before
    assert "Ascend Migration Ltd." in words(before)
    assert pdf_documents.timesheet_pdf(sheet, "en") != before


@pytest.mark.slow
def test_working_copies_say_that_they_are(people, meeting, report, sheet, agreed):
    message = f"Working copy, {timezone.localdate()}"
    for row in (meeting, report):
        assert words(planning_file(row, "en")).count(message) >= 2  # by the number, and each foot
    assert message not in words(pdf_documents.timesheet_pdf(sheet, "en"))
    weekly_reports.update_weekly(actor=people[Role.CONSULTANT], report=report, summary="done")
    done = weekly_reports.freeze_weekly(actor=people[Role.MANAGER], report=report)
    assert message not in words(pdf_documents.weekly_pdf(done, "en"))


def test_the_workbook_of_a_plan_is_a_working_copy(client, people, agreed):
    client.force_login(people[Role.MANAGER])
    answer = client.get(reverse("planning:plan_file", args=[agreed.code]))
    book = openpyxl.load_workbook(BytesIO(answer.content))
    assert [str(timezone.localdate()) in page.oddFooter.left.text for page in book] == [True] * 2


def test_a_baseline_keeps_the_plan_as_it_was_agreed(
        client, api, people, agreed, messages, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        baseline = plans.take_baseline(actor=people[Role.MANAGER], plan=agreed.plan, reason="x")
    assert messages == [("planning.store_files", ("plan_baseline", baseline.pk))]
    page = reverse("planning:baseline_file", args=[baseline.pk, "en"])
    url = f"/api/v1/plans/{agreed.plan.pk}/baselines/{baseline.version}/xlsx/?language=en"
    client.force_login(people[Role.REVIEWER])
    assert client.get(page).url == reverse("planning:plan", args=[agreed.code])
    assert api(Role.REVIEWER).get(url).status_code == 409
    assert store_planning_files("plan_baseline", baseline.pk) == 2
    before = client.get(page).content
    task = agreed.plan.tasks.get(stage="survey")
    plans.update_task(actor=people[Role.MANAGER], task=task, days=task.days + 9)
    assert client.get(page).content == api(Role.REVIEWER).get(url).content == before
    rows = list(openpyxl.load_workbook(BytesIO(before)).active.iter_rows(
        min_row=4, min_col=2, values_only=True))
    assert sorted((title, f"{start:%Y-%m-%d}", f"{finish:%Y-%m-%d}")
                  for title, start, finish in rows) == sorted(
        (row["title"], row["start"], row["finish"]) for row in baseline.tasks.values())


def test_a_stranger_gets_no_baseline(client, stranger, agreed):
    client.force_login(stranger)
    [baseline] = agreed.plan.baselines.all()
    url = reverse("planning:baseline_file", args=[baseline.pk, "en"])
    assert client.get(url).status_code == 404


def test_every_kind_with_files_is_known(sheet):
    assert [key for key, kind in KINDS.items() if kind.is_issued] == [
        "weekly", "change", "timesheet", "plan_baseline"]
    assert document_files.kind_of(sheet) == "timesheet"
    assert TimesheetFile.ROW == "timesheet"
