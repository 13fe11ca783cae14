"""A manager's whole way from an empty database, in a browser, in both languages."""

import io
import os
import zipfile
from pathlib import Path

import openpyxl
import pytest
from django.core.management import call_command
from django.utils import timezone

from delivery.planning.models import ChangeRequest, Timesheet, WeeklyReport
from delivery.portal.sample import PASSWORD
from delivery.quotes.models import Quote
from delivery.surveys.models import Survey
from delivery.surveys.sheet import Sheet
from delivery.surveys.spreadsheet import FIRST_ANSWER, HEAD_ROW
from tests.delivery.surveys.conftest import GIVEN, sample

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
CODE = "EP2601"
HERE = f"/engagements/{CODE}/"
LANGUAGES = {"zh-CN": "zh-hans", "en": "en"}
TEAM = {"manager": "林雪", "consultant": "周启明", "sales": "何嘉", "reviewer": "陈国栋"}
FIRM = {"name": "昇腾迁移交付有限公司", "name_en": "Ascend Migration Ltd.",
        "bank": "某银行上海分行", "bank_account": "6222 0000", "address": "上海",
        "contact_name": "何嘉", "phone": "021-1"}
SOURCE = "import torch\nx = torch.zeros(1).cuda()\ntorch.distributed.init_process_group('nccl')\n"
SHOTS = os.environ.get("DESK_SHOTS")  # a folder: a picture of every page that was worked on


class Walk:
    """People at their windows who fill forms and press buttons; every press is counted."""

    def __init__(self, visit, language: str):
        self.visit, self.language, self.windows, self.presses = visit, language, {}, []

    def at(self, username: str, path: str):
        """The person's window on that page."""
        if username not in self.windows:
            self.windows[username] = self.visit(username, language=self.language)
        self.name, self.page = username, self.windows[username].open(path)
        return self.page

    def fill(self, **values) -> None:
        for name, value in values.items():
            field = self.page.locator(f"main [name={name}]").first
            kind = field.evaluate("e => e.tagName == 'SELECT' ? 'select' : e.type")
            if kind == "select":
                self.choose(field, str(value))
            elif kind == "file":
                field.set_input_files(value)
            else:
                field.fill(str(value))

    def choose(self, field, value: str) -> None:
        """The option of that value, else the first whose text holds it."""
        options = field.locator("option").evaluate_all(
            "all => all.map(o => [o.value, o.textContent])")
        found = next((v for v, _text in options if v == value), None)
        field.select_option(found or next(v for v, text in options if value in text))

    def press(self, selector: str = "main form button.btn-primary") -> None:
        with self.page.expect_navigation():
            self.page.locator(selector).last.click()
        self.presses.append(f"{self.name}: {selector}")
        assert self.page.locator(".alert-danger, .invalid-feedback").count() == 0, (
            selector, self.page.locator(".alert-danger, .invalid-feedback").all_inner_texts())

    def move(self, action: str) -> None:
        """The button of the form that posts to that address."""
        self.press(f".desk-page form[action$='{action}'] button")

    def shot(self, name: str) -> None:
        if SHOTS:
            self.page.screenshot(path=f"{SHOTS}/{self.language}-{name}.png", full_page=True)


@pytest.mark.parametrize("language", LANGUAGES)
def test_from_an_empty_database(visit, db, monkeypatch, tmp_path, language):
    monkeypatch.setenv("DESK_ADMIN_PASSWORD", PASSWORD)
    call_command("begin", "admin", name="沈管理")
    walk = Walk(visit, language)
    people_and_firm(walk)
    engagement_with_models(walk)
    survey_by_workbook(walk, tmp_path)
    scan_of_the_source(walk, tmp_path)
    first = quote_from_the_estimate(walk)
    plan_with_baseline(walk)
    second = change_with_a_new_version(walk, first)
    gate_says_what_is_missing(walk)
    time_and_weekly_report(walk)
    assert (first.state, second.state, second.version) == ("superseded", "accepted", 2)
    assert [error for window in walk.windows.values() for error in window.errors] == []


def people_and_firm(walk: Walk) -> None:
    for username, name in TEAM.items():
        walk.at("admin", "/people/new/")
        walk.fill(username=username, password=PASSWORD, full_name=name, role=username)
        walk.press()
    walk.shot("people")
    walk.at("admin", "/quotes/company/")
    walk.fill(**FIRM)
    walk.press()


def engagement_with_models(walk: Walk) -> None:
    walk.at("manager", "/")
    walk.shot("desk-empty")
    walk.at("manager", "/engagements/new/")
    walk.fill(code=CODE, name="变电站模型迁移", name_en="Substation models",
              new_customer="某电力公司", starts_on="2026-01-05", ends_on="2027-12-31")
    walk.press()
    for username in ("consultant", "sales", "reviewer"):
        walk.at("manager", HERE + "team/")
        walk.fill(user=TEAM[username], role=username)
        walk.press()
    for code, size, scope in (("LLM", "7", "full"), ("DET", "0.02", "inference")):
        walk.at("manager", HERE + "models/new/")
        walk.fill(code=code, name=f"模型 {code}", parameters_billion=size, scope=scope)
        walk.press()
    walk.shot("engagement")
    walk.at("manager", "/customers/")
    walk.page.locator("main table a").first.click()
    walk.page.wait_for_load_state()
    walk.fill(contact_name="陈国栋", contact_phone="010-1", address="北京")
    walk.press()


def survey_by_workbook(walk: Walk, folder: Path) -> None:
    """Sent out as xlsx, filled with one mistake, mended, read back, submitted, confirmed."""
    walk.at("consultant", HERE + "survey/")
    walk.move("/survey/start/")
    walk.shot("survey-begun")
    with walk.page.expect_download() as download:
        walk.page.click(f"a[href$='survey/{LANGUAGES[walk.language]}.xlsx']")
    path = folder / "survey.xlsx"
    download.value.save_as(path)
    for deadline in ("someday", "2027-06-30"):
        answered(path, deadline=deadline)
        walk.at("reviewer", HERE + "survey/upload/")
        walk.fill(file=str(path))
        walk.press("main form[enctype] button.btn-primary")
        if deadline == "someday":
            assert walk.page.locator("main table").first.inner_text().count("someday") == 1
            walk.shot("survey-errors")
    walk.move("/survey/upload/apply/")
    survey = Survey.objects.get()
    assert Sheet(survey).missing == []
    walk.move("/survey/move/submit/")
    walk.at("consultant", HERE + "survey/")
    walk.move("/survey/move/confirm/")
    walk.at("manager", HERE + "survey/follows/")
    walk.shot("follows")
    walk.press("main form[action$='/follows/apply/'] button[name=all]")


def answered(path: Path, **given) -> None:
    """Fill every required cell of the workbook; what is not asked is skipped by the reader."""
    book = openpyxl.load_workbook(path)
    cells = Sheet(Survey.objects.get()).cells
    given = {**GIVEN, "model_scope@LLM": "full", "model_scope@DET": "inference", **given}
    for page, is_per_model in zip(book.worksheets, (False, True), strict=False):
        heads = [cell.value for cell in page[HEAD_ROW]]
        for row in page.iter_rows(min_row=HEAD_ROW + 1):
            for column in range(FIRST_ANSWER - 1, len(row)):
                name = f"{row[0].value}@{heads[column]}" if is_per_model else row[0].value
                if name in cells and (cells[name].question.is_required or name in given):
                    question = cells[name].question
                    value = given.get(name, given.get(question.key, sample(question)))
                    row[column].value = "; ".join(value) if isinstance(value, list) else value
    book.save(path)


def scan_of_the_source(walk: Walk, folder: Path) -> None:
    archive = folder / "src.zip"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as files:
        files.writestr("train.py", SOURCE)
    archive.write_bytes(packed.getvalue())
    walk.at("consultant", f"/scans/new/?engagement={CODE}")
    walk.page.locator("main form[method=get] button").last.click()
    walk.page.wait_for_load_state()
    walk.page.locator("main [type=file]").set_input_files(str(archive))
    walk.press("main form[method=post] button.btn-primary")
    walk.shot("scan")


def quote_from_the_estimate(walk: Walk) -> Quote:
    walk.at("sales", HERE + "effort/")
    walk.move("/effort/quote/")
    walk.shot("quote-draft")
    walk.move("/submit/")
    quote = Quote.objects.get()
    for username, step in (("consultant", "review"), ("manager", "approve"), ("sales", "issue")):
        walk.at(username, f"/quotes/{quote.pk}/")
        walk.move(f"/{step}/")
    walk.at("reviewer", f"/quotes/{quote.pk}/")
    walk.shot("quote-customer")
    walk.move("/accept/")
    return quote


def plan_with_baseline(walk: Walk) -> None:
    walk.at("manager", HERE + "plan/")
    walk.fill(starts_on=timezone.localdate().isoformat())
    walk.press()
    walk.move("/plan/baseline/")
    walk.shot("plan")


def change_with_a_new_version(walk: Walk, quote: Quote) -> Quote:
    """DET is dropped: its tasks and days go, the quote gets a new version that both agree on."""
    walk.at("manager", HERE + "effort/")
    walk.move("/effort/1/approve/")
    walk.at("consultant", HERE + "changes/new/")
    walk.fill(title="取消检测模型", category="scope", requested_by="某电力公司 陈国栋",
              reason="业务调整", before="两个模型", after="一个模型", effect_on_scope="DET 退出",
              effect_on_schedule="提前", effect_on_price="减少", effect_on_quality="无",
              effect_on_criteria="无", quote=quote.pk)
    walk.press()
    walk.fill(action="drop_model", model="DET")
    walk.press("main form[action$='/effects/scope/'] button")
    walk.move("/effects/scope/price/")
    walk.shot("change")
    change = ChangeRequest.objects.get()
    walk.at("consultant", f"/changes/{change.pk}/effects/")
    walk.shot("change-effects")
    walk.at("consultant", f"/changes/{change.pk}/")
    walk.move("/submit/")
    for username in ("manager", "reviewer"):
        walk.at(username, f"/changes/{change.pk}/")
        walk.move("/approve/")
    change.refresh_from_db()
    quote.refresh_from_db()
    walk.at("manager", f"/quotes/{change.new_quote_id}/compare/{quote.pk}/")
    walk.shot("quote-diff")
    walk.at("manager", HERE + "plan/")
    assert "DET" not in walk.page.locator("main").inner_text()
    walk.shot("plan-after")
    return change.new_quote


def gate_says_what_is_missing(walk: Walk) -> None:
    walk.at("consultant", HERE + "models/LLM/survey/")
    walk.press("button[value=start]")
    walk.press("button[value=submit]")
    walk.at("manager", HERE + "models/LLM/survey/")
    walk.shot("gate")
    with walk.page.expect_navigation():
        walk.page.click("button[value=pass]")
    assert walk.page.locator(".alert-danger").count() == 1
    walk.at("manager", "/board/")
    walk.shot("board")
    walk.at("manager", "/")
    walk.shot("desk")


def time_and_weekly_report(walk: Walk) -> None:
    today = timezone.localdate()
    walk.at("consultant", HERE + "time/new/")
    walk.fill(work_date=today.isoformat(), item="survey", grade="expert", model="LLM",
              stage="survey")
    walk.page.check("main [name=halves][value=am]")
    walk.press()
    walk.at("manager", HERE + "timesheets/")
    walk.move("/timesheets/confirm/")
    sheet = Timesheet.objects.get()
    walk.at("reviewer", f"/timesheets/{sheet.pk}/")
    walk.shot("timesheet")
    walk.move("/confirm/")
    walk.at("consultant", HERE + "control/")
    walk.fill(day=today.isoformat())
    walk.move("/control/weekly/")
    walk.shot("weekly")
    report = WeeklyReport.objects.get()
    walk.at("manager", f"/weekly/{report.pk}/")
    walk.move(f"/weekly/{report.pk}/freeze/")
    report.refresh_from_db()
    assert report.content_hash
