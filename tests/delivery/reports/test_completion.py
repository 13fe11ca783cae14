"""What a test report says of its objects, of time and place, and who signs it (DOMAIN 9.8)."""

import io
import shlex

import openpyxl
import pytest

from delivery.documents.bilingual import in_language
from delivery.documents.pdf import html_of
from delivery.reports import services
from delivery.reports.office.writers import annex_xlsx
from delivery.reports.rendering import TEMPLATE, context_of
from engagements.models import Role
from tests.delivery.conftest import STARTED, stored
from workers.models import Job


def adapted(engagement, state: str = "succeeded") -> Job:
    model = engagement.models.get(code="LLM")
    return Job.objects.create(kind="adapt.transplant", engagement=engagement, model=model,
                              stage="train_adapt", state=state, started_at=STARTED,
                              finished_at=STARTED)


@pytest.mark.slow
def test_a_test_object_is_named_by_the_newest_run_that_made_it(delivered, people):
    first, newest, _failed = adapted(delivered), adapted(delivered), adapted(delivered, "failed")
    for job in (first, newest):
        stored(delivered, job.model, f"{job.pk}.py", b"pass", job=job)
    judged = delivered.jobs.get(kind="train.pretrain", state="succeeded")
    draft = services.draft_test_report(actor=people[Role.MANAGER], engagement=delivered)
    tables = in_language(draft.snapshot, "en")["tables"]
    rows = {row[0]: row[1:] for row in tables["objects"]["rows"]}
    assert rows["LLM"][0].startswith(f"#{newest.pk} ")
    assert rows["LLM"][1:] == ["1", f"#{judged.pk}"]
    assert rows["PSR"] == ["not recorded", "0", "none"]


def test_time_place_persons_and_tools_follow_from_the_runs(report, people):
    rows = dict(in_language(report.snapshot, "en")["tables"]["performed"]["rows"])
    assert rows["Test period"] == "2025-06-24 10:00:00 – 2025-06-24 16:48:00"
    assert rows["Place (nodes)"] == "bms-01"
    assert rows["Persons who ran the tests"] == "Consultant, Manager"
    assert "verdicts are never entered by hand" in rows["Judged by"]


def test_a_report_without_runs_says_so(engagement, people):
    draft = services.draft_test_report(actor=people[Role.MANAGER], engagement=engagement)
    entry = in_language(draft.snapshot, "en")["tables"]["performed"]
    assert (entry["rows"], entry["empty"]) == ([], "No run was made.")


def test_what_a_comparison_is_asked_for_stands_in_it_even_unrecorded(report):
    tables = in_language(report.snapshot, "en")["tables"]
    rows = {row[0]: row[1:] for row in tables["environments"]["rows"]}
    assert rows["Data type"] == ["all", "not recorded", "not recorded", "–"]
    assert rows["Data set"] == ["all", "not recorded", "not recorded", "–"]


@pytest.mark.slow
def test_a_report_ends_with_its_conclusion_and_room_to_sign(report):
    last = [s for s in context_of(report.snapshot, "en")["sections"] if not s["is_annex"]][-1]
    assert last["title"] == "Conclusion and signatures"
    assert [part["template"].rpartition("/")[2] for part in last["parts"]] == [
        "recommendation_box.html", "signatures.html"]


@pytest.mark.slow
def test_the_annex_file_lists_every_run_and_file_and_the_report_their_totals(report, delivered):
    snapshot = report.snapshot
    book = openpyxl.load_workbook(io.BytesIO(annex_xlsx(snapshot, "en")))
    reported = {str(cell.value) for sheet in book.worksheets for row in sheet.iter_rows()
                for cell in row}
    assert {row["sha256"] for row in snapshot["evidence"]} <= reported
    assert {shlex.join(row["command"]) for row in snapshot["runs"]} <= reported
    html = html_of(TEMPLATE, context_of(snapshot, "en"), "en")
    assert f"TR-{delivered.code}-draft-V1.0-en.xlsx" in html
    assert [f"E{row['id']}</a>" in html for row in snapshot["evidence"]] == [
        bool(row["role"]) for row in snapshot["evidence"]]


@pytest.mark.slow
def test_chinese_sentences_follow_each_other_without_a_gap(report):
    html = html_of(TEMPLATE, context_of(report.snapshot, "zh-hans"), "zh-hans")
    assert "。 " not in html.split("<body>")[1]
