"""Minutes, weekly report, change order and timesheet in print."""

import io
import re
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override
from pypdf import PdfReader

from delivery.planning import pdf_documents
from delivery.planning.services import changes, control, weekly_reports
from delivery.planning.services.files import store_planning_files
from delivery.planning.time.timesheet_facts import timesheet_facts
from delivery.planning.time.timesheet_labels import presented
from engagements.models import AuditEntry, Engagement, Role, User
from tests.delivery.planning.conftest import MONDAY
from tests.delivery.reports.rendering_elsewhere import same_everywhere

LANGUAGES = ("zh-hans", "en")
IN_THE_WEEK = datetime(2025, 9, 22, 1, tzinfo=UTC)


def words(data: bytes) -> str:
    reader = PdfReader(io.BytesIO(data))
    return "".join(page.extract_text() for page in reader.pages).replace("\n", "")


@pytest.mark.slow
def test_a_risk_stands_in_the_report_in_the_reader_s_language(people, agreed):
    control.add_risk(actor=people[Role.MANAGER], engagement=agreed, title="算子缺失",
                     title_en="Operators are missing", probability=4, impact=4,
                     owner=people[Role.MANAGER], review_on=MONDAY)
    AuditEntry.objects.filter(action="risk.add").update(at=IN_THE_WEEK)
    report = weekly_reports.draft_weekly(actor=people[Role.CONSULTANT], engagement=agreed,
                                         day=MONDAY)
    chinese, english = (words(pdf_documents.weekly_pdf(report, language)) for language in LANGUAGES)
    assert ("算子缺失" in chinese, "Operators are missing" in chinese) == (True, False)
    assert ("算子缺失" in english, "Operators are missing" in english) == (False, True)


@pytest.mark.slow
def test_minutes_hold_decisions_and_todos(meeting):
    text = words(pdf_documents.minutes_pdf(meeting, "zh-hans"))
    assert all(part in text for part in ("会议纪要", "MM-EP2501-001", "先迁移大模型", "提供日志",
                                         "2025年9月22日", "Manager", "讨论范围", "范围说明.txt"))
    assert "Minutes of meeting" in words(pdf_documents.minutes_pdf(meeting, "en"))


@pytest.mark.slow
def test_people_of_minutes_have_their_english_name_and_the_hash_stays(people, meeting):
    before = words(pdf_documents.minutes_pdf(meeting, "en"))
    User.objects.filter(pk=people[Role.MANAGER].pk).update(full_name_en="Lin Xue")
    chinese, english = (words(pdf_documents.minutes_pdf(meeting, language))
                        for language in LANGUAGES)
    assert ("Lin Xue" in chinese, "Lin Xue" in english) == (False, True)
    # The footer may break before the hash: how wide it is depends on the date it holds.
    footer = re.search(r"SHA-256 ?([0-9a-f]{32})…", before)[1]
    assert (footer in chinese, footer in english) == (True, True)


def test_a_timesheet_names_people_in_the_readers_language(people, engagement, sheet):
    User.objects.filter(pk=people[Role.CONSULTANT].pk).update(
        full_name="周启明", full_name_en="Zhou Qiming")
    entries = list(sheet.entries.select_related("person"))
    facts = timesheet_facts(engagement, MONDAY, 2, entries)
    shown = []
    for language in LANGUAGES:
        with override(language):
            found = presented(facts)
        shown.append({row["person"] for row in (*found["rows"], *found["people"])})
    assert shown == [{"周启明"}, {"Zhou Qiming"}]
    with override("en"):
        assert presented(sheet.facts)["people"][0]["person"] == "Consultant"


@pytest.mark.slow
def test_timesheet_adds_half_days_up(sheet):
    text = words(pdf_documents.timesheet_pdf(sheet, "en"))
    assert all(part in text for part in ("TS-EP2501-202509-01", "Whole day", "Morning", "1.5"))
    assert sheet.content_hash[:32] in text


@pytest.mark.slow
def test_draft_is_marked_and_frozen_is_not(people, report):
    assert "DRAFT" in words(pdf_documents.weekly_pdf(report, "en"))
    weekly_reports.update_weekly(actor=people[Role.CONSULTANT], report=report, summary="done")
    frozen = weekly_reports.freeze_weekly(actor=people[Role.MANAGER], report=report)
    text = words(pdf_documents.weekly_pdf(frozen, "en"))
    assert ("DRAFT" in text, frozen.content_hash[:32] in text) == (False, True)


@pytest.mark.slow
def test_tasks_are_named_in_the_readers_language(report, change):
    chinese, english = (words(pdf_documents.change_pdf(change, language)) for language in LANGUAGES)
    assert ("LLM · 场景调研评估" in chinese.replace("・", "·"), "LLM · Survey" in english) == (
        True, True)


@pytest.mark.slow
def test_change_order_shows_before_after_and_approvals(people, change):
    for role in (Role.MANAGER, Role.REVIEWER):
        done = changes.approve_change(actor=people[role], change=change)
    text = words(pdf_documents.change_pdf(done, "en"))
    before, after, _difference = done.facts["price"]["totals"]["net"]
    assert all(part in text for part in (
        "CR-EP2501-001", "≤ 10", "≤ 12", "1 → 3", f"{float(before):,.2f}", f"{float(after):,.2f}",
        "Manager", "Reviewer", "Criteria V2", "Quote V2", done.content_hash[:32]))


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_same_facts_give_the_same_bytes(sheet, meeting, language):
    assert pdf_documents.timesheet_pdf(sheet, language) == pdf_documents.timesheet_pdf(sheet,
                                                                                       language)
    assert pdf_documents.minutes_pdf(meeting, language) == pdf_documents.minutes_pdf(meeting,
                                                                                     language)


@pytest.mark.slow
def test_practice_is_marked(sheet):
    Engagement.objects.update(has_practice_data=True)
    sheet.refresh_from_db()
    assert "PRACTICE DATA" in words(pdf_documents.timesheet_pdf(sheet, "en"))


@pytest.mark.slow
def test_who_gets_which_paper(client, people, stranger, meeting, sheet, change):
    rows = {"minutes": meeting, "timesheet": sheet, "change": change}
    for kind in ("timesheet", "change"):
        store_planning_files(kind, rows[kind].pk)
    urls = {kind: reverse("planning:pdf", args=[kind, row.pk, "en"])
            for kind, row in rows.items()}
    client.force_login(people[Role.REVIEWER])
    assert {kind: client.get(url).status_code for kind, url in urls.items()} == {
        "minutes": 404, "timesheet": 200, "change": 200}
    client.force_login(stranger)
    assert {client.get(url).status_code for url in urls.values()} == {404}


def test_a_draft_that_cannot_come_into_force_has_no_paper(client, people, agreed):
    from delivery.planning.services import change_drafts
    from delivery.quotes.models import Quote
    from tests.delivery.planning.conftest import WORDS

    quote = Quote.objects.get()
    made = changes.create_change(actor=people[Role.CONSULTANT], engagement=agreed, quote=quote,
                                 **WORDS)
    change_drafts.set_price_effect(actor=people[Role.CONSULTANT], change=made, action="remove",
                                   line=quote.lines.get())
    client.force_login(people[Role.CONSULTANT])
    answer = client.get(reverse("planning:pdf", args=["change", made.pk, "en"]))
    assert answer.url == reverse("planning:change", args=[made.pk])


@pytest.mark.slow
def test_the_weekly_report_has_every_field(people, agreed):
    """DOMAIN 9.10: milestones with plan, now and reasons; done, under way, to come; changes."""
    from delivery.planning.services import plans, weekly_reports
    from tests.delivery.planning.conftest import WORDS

    manager = people[Role.MANAGER]
    survey, design = agreed.plan.tasks.order_by("position")[:2]
    plans.set_milestones(actor=manager, plan=agreed.plan, rows=[
        {"name": "首付款", "name_en": "First payment", "percent": Decimal(100),
         "trigger": "contract", "task": design}])
    survey.model.stages.filter(stage="survey").update(state="in_progress",
                                                      started_at=timezone.now())
    plans.update_task(actor=manager, task=survey, started_on=date(2025, 9, 22))
    made = changes.create_change(actor=people[Role.CONSULTANT], engagement=agreed, **WORDS)
    changes.submit_change(actor=people[Role.CONSULTANT], change=made)
    agreed.plan.baselines.update(taken_at=IN_THE_WEEK)
    agreed.change_requests.update(submitted_at=IN_THE_WEEK)
    agreed.quotes.update(state="accepted", answered_at=IN_THE_WEEK)
    report = weekly_reports.draft_weekly(actor=manager, engagement=agreed, day=date(2025, 9, 24))
    report = weekly_reports.update_weekly(actor=manager, report=report, deviations="No input yet",
                                          customer_duties="Send the logs")
    facts = report.facts
    [milestone] = facts["plan"]["milestones"]
    assert (milestone["agreed"], milestone["is_reached"]) == ("2025-09-23", False)
    assert [row["stage"] for row in facts["plan"]["in_progress"]] == ["survey"]
    assert facts["plan"]["not_started"] == agreed.plan.tasks.count() - 1
    assert facts["open_changes"] == [str(made)]
    assert {name: Decimal(n) for name, n in facts["resources"].items()} == {
        "used": 0, "quoted": 5}
    text = words(pdf_documents.weekly_pdf(report, "en"))
    for part in ("First payment", "2025-09-23", "No input yet", "Send the logs", made.code,
                 "In progress", "Not started", "Milestone", "Risks", "Changes", "In all so far"):
        assert "".join(part.split()) in "".join(text.split()), part


@pytest.mark.slow
def test_every_paper_is_the_same_everywhere(
        monkeypatch, tmp_path, meeting, report, change, sheet):
    asked = []
    monkeypatch.setattr(pdf_documents, "render_pdf", lambda *args: asked.append(("page",
                                                                                 args)) or b"")
    for language in LANGUAGES:
        pdf_documents.minutes_pdf(meeting, language)
        pdf_documents.weekly_pdf(report, language)
        pdf_documents.change_pdf(change, language)
        pdf_documents.timesheet_pdf(sheet, language)
    assert set(same_everywhere(tmp_path, asked)) == {
        f"{name} {language} pdf" for name in ("minutes", "weekly", "change", "timesheet")
        for language in LANGUAGES}
