"""Word files: front pages and chapters. Workbooks: sheets, heights, locks. Marks of both."""

import io

import docx
import openpyxl
import pytest
from django.utils.translation import override
from docx.oxml.ns import qn
from docx.shared import Mm, Pt

from delivery.documents.bilingual import in_language
from delivery.documents.templatetags.document_tags import with_worded_days
from delivery.reports import registry, services
from delivery.reports.office.word_document import document_docx
from delivery.reports.office.word_parts import PARTS, grid
from delivery.reports.office.workbook import document_xlsx
from engagements.models import Role
from tests.cached_fixtures import cached_fixture
from tests.delivery.reports.test_kinds import drafted


@pytest.fixture
@cached_fixture
def word_file(planned, people) -> bytes:
    return document_docx(drafted(planned, people, "SOW").snapshot, "en")


@pytest.fixture
def word(word_file):
    return docx.Document(io.BytesIO(word_file))


@pytest.fixture
@cached_fixture
def book_file(planned, people) -> bytes:
    snapshot = drafted(planned, people, "HD").snapshot
    documents = snapshot["tables"]["documents"]
    documents["columns"] += [{**documents["columns"][0], "title": "Checked", "look": "box"}]
    documents["rows"] = [
        ["short", "TR-1", "V1.0", "1", "PDF", "0" * 64, "☐"],
        ["a long name of a deliverable " * 20, "TR-2", "V1.0", "1", "PDF", "0" * 64, "☐"]]
    return document_xlsx(snapshot, "en")


@pytest.fixture
def book(book_file):
    return openpyxl.load_workbook(io.BytesIO(book_file))


def test_sign_off_history_and_distribution_stand_before_the_chapters(word):
    titles = [p.text for p in word.paragraphs if p.style.name in ("Heading 1", "Heading 2")]
    assert titles[:5] == ["Sign-off", "Revision history", "Distribution", "Contents", "1  Preface"]
    heads = [[cell.text for cell in table.rows[0].cells] for table in word.tables[1:4]]
    assert heads == [["", "Full name", "Signature", "Date"],
                     ["Version", "Date", "Change", "Changed by", "Approved by"],
                     ["Full name", "Company", "Role", "Action"]]
    assert [row.cells[0].text for row in word.tables[1].rows[1:]] == [
        "Prepared by", "Reviewed by", "Approved by"]


def test_the_contents_name_every_chapter_in_a_field_that_is_filled_on_opening(word):
    marks = [mark.get(qn("w:fldCharType")) for mark in word.element.iter(qn("w:fldChar"))]
    assert marks == ["begin", "separate", "end"]
    text = [p.text for p in word.paragraphs]
    with override("en"):
        chapters = [f"{n}  {section.title}" for n, section in
                    enumerate(registry.get("SOW").sections, 1)]
    assert all(text.count(chapter) == 2 for chapter in chapters)


def row_of(sheet, start: str) -> int:
    """The number of the first row whose first cell begins like that."""
    return next(cell.row for cell in sheet["A"] if str(cell.value).startswith(start))


def test_a_row_is_as_high_as_its_longest_cell_needs(book):
    sheet = book.worksheets[1]
    rows = row_of(sheet, "short"), row_of(sheet, "a long name")
    short, tall = (sheet.row_dimensions[n].height for n in rows)
    width = sheet.column_dimensions["A"].width
    lines = len(sheet.cell(rows[1], 1).value) / width
    assert tall > short
    assert tall >= 9 * lines  # letters of nine points


def test_only_the_boxes_to_tick_are_open(book):
    sheet = book.worksheets[1]
    assert sheet.protection.sheet
    cells = sheet[row_of(sheet, "short")]
    assert [cell.protection.locked for cell in cells] == [True] * 6 + [False]


def test_short_tables_stand_below_each_other_on_one_sheet(planned, people):
    snapshot = drafted(planned, people, "BL").snapshot
    files = snapshot["tables"]["files"]
    files["rows"] = files["rows"][:3]
    book = openpyxl.load_workbook(io.BytesIO(document_xlsx(snapshot, "en")))
    assert book.sheetnames == ["Document", "Baseline sheet"]
    sheet = book["Baseline sheet"]
    captions = [row_of(sheet, caption) for caption in (
        "Baselines and how", "Repeats and spread", "Raw files", "Confirmations")]
    assert captions == sorted(captions)
    assert [sheet.cell(row + 1, 1).value for row in captions] == [
        "No.", "No.", "Baseline", "Baseline"]
    assert sheet.auto_filter.ref is None


def test_a_long_table_has_a_sheet_of_its_own_with_a_filter(planned, people):
    snapshot = drafted(planned, people, "BL").snapshot
    files = snapshot["tables"]["files"]
    files["rows"] = files["rows"][:1] * 9
    book = openpyxl.load_workbook(io.BytesIO(document_xlsx(snapshot, "en")))
    assert book.sheetnames == ["Document", "Baseline sheet", "Raw files", "Confirmations"]
    assert book["Raw files"].auto_filter.ref == "A1:E10"
    assert book["Raw files"].print_title_rows == "$1:$1"


def test_a_blank_cell_of_a_workbook_says_so(planned, people):
    snapshot = drafted(planned, people, "BL").snapshot
    book = openpyxl.load_workbook(io.BytesIO(document_xlsx(snapshot, "en")))
    head, row = (next(book["Baseline sheet"].iter_rows(n, n, values_only=True)) for n in (2, 3))
    assert dict(zip(head, row, strict=True))["Data set"] == "–"


def test_the_workbook_of_open_issues_lists_criteria_that_are_not_passed(planned, people):
    snapshot = drafted(planned, people, "PL").snapshot
    sheet = openpyxl.load_workbook(io.BytesIO(document_xlsx(snapshot, "en"))).worksheets[1]
    row = row_of(sheet, "PL-01")
    assert row > row_of(sheet, "Criteria that are not passed")
    assert sheet.cell(row, 4).value == in_language(snapshot, "en")["issues"][0]["text"]


def test_the_workbook_of_criteria_holds_their_definitions(planned, people):
    snapshot = drafted(planned, people, "AC").snapshot
    cells = {cell for sheet in openpyxl.load_workbook(io.BytesIO(document_xlsx(snapshot, "en")))
             for row in sheet.iter_rows(values_only=True) for cell in row}
    assert {d["code"] for d in snapshot["definitions"]} <= cells
    assert {d["formula"]["en"] for d in snapshot["definitions"]} <= cells


@pytest.mark.parametrize("kind", [k.code for k in registry.all_kinds() if "docx" in k.writers])
def test_a_word_file_leaves_no_chapter_to_the_pdf(kind):
    parts = {part.removeprefix("part:") for section in registry.get(kind).sections
             for part in section.all_parts if part.startswith("part:")}
    assert parts <= set(PARTS)


@pytest.mark.slow
def test_the_word_form_of_an_acceptance_shows_picture_and_departures(planned, people):
    snapshot = drafted(planned, people, "PA").snapshot
    snapshot["departures"]["skipped"] = [
        {"model": "PSR", "stage": "Training tuning", "reason": "Inference only", "by": "",
         "at": ""}]
    made = docx.Document(io.BytesIO(document_docx(snapshot, "en")))
    rows = [[cell.text for cell in row.cells] for table in made.tables for row in table.rows]
    assert ["PSR", "Training tuning", "Inference only", "–", "–"] in rows
    [head] = [n for n, row in enumerate(rows) if row[0] == "Model" and "Loss-curve" in row[1]]
    shown = {(row[0].split()[0], cell.split()[0]) for row in rows[head + 1:head + 3]
             for cell in row[1:] if cell != "no criterion"}
    assert {(row["model"], row["outcome_label"]["en"].split()[0])
            for row in snapshot["metrics"]} == shown
    boxes = [row._tr.trPr.xpath("./w:cantSplit") for table in made.tables for row in table.rows
             if row.cells[0].text.startswith("The customer decides on")]
    assert [len(found) for found in boxes] == [1]


def test_no_page_of_a_word_file_begins_with_a_single_row(word):
    rows = max((table.rows for table in word.tables[1:]), key=len)
    stored = [row.cells[0].paragraphs[0].paragraph_format.keep_with_next for row in rows]
    assert stored == [True, *[None] * (len(rows) - 3), True, None]


WITHDRAWN = "WITHDRAWN – this document is no longer in force"


@pytest.mark.slow
@pytest.mark.parametrize("is_withdrawn", [True, False])
def test_a_word_file_says_on_every_page_that_it_is_withdrawn(planned, people, is_withdrawn):
    made = docx.Document(io.BytesIO(document_docx(
        drafted(planned, people, "SOW").snapshot, "en", is_withdrawn=is_withdrawn)))
    heads = [section.header.paragraphs[0].text for section in made.sections]
    assert [WITHDRAWN in head for head in heads] == [is_withdrawn] * len(heads)
    assert (WITHDRAWN in [p.text for p in made.paragraphs]) == is_withdrawn


@pytest.mark.parametrize("is_withdrawn", [True, False])
def test_a_workbook_says_on_every_page_that_it_is_withdrawn(planned, people, is_withdrawn):
    book = openpyxl.load_workbook(io.BytesIO(document_xlsx(
        drafted(planned, people, "BL").snapshot, "en", is_withdrawn=is_withdrawn)))
    heads = [sheet.oddHeader.right.text or "" for sheet in book]
    assert [WITHDRAWN in head for head in heads] == [is_withdrawn] * len(heads)
    assert (WITHDRAWN in [cell.value for cell in book["Document"]["B"]]) == is_withdrawn


@pytest.mark.parametrize(("language", "written"), [("zh-hans", "2025年9月30日\n–"),
                                                   ("en", "2025-09-30\n–")])
def test_days_in_tables_are_written_as_the_language_writes_them(planned, people, language, written):
    snapshot = drafted(planned, people, "PL").snapshot
    with override(language):
        shown = with_worded_days(in_language(snapshot, language))["tables"]["issues"]
    looks = [column["look"] for column in shown["columns"]]
    days = [cell for cell, look in zip(shown["rows"][0], looks, strict=True) if look == "day"]
    assert days[-1] == written
    book = openpyxl.load_workbook(io.BytesIO(document_xlsx(snapshot, language)))
    assert "2025-09-30\n–" in [cell.value for row in book.worksheets[1] for cell in row]


def test_the_particulars_of_a_word_file_stay_on_one_page(word):
    rows = word.tables[0].rows
    stored = [row.cells[0].paragraphs[0].paragraph_format.keep_with_next for row in rows]
    assert stored == [*[True] * (len(rows) - 1), None]


@pytest.mark.slow
def test_raw_files_and_runs_of_a_word_file_lead_to_their_pages(delivered, people, settings):
    settings.PUBLIC_URL = "https://desk.example"
    snapshot = services.draft_acceptance(
        actor=people[Role.MANAGER], engagement=delivered).snapshot
    [judged] = [row for row in snapshot["evidence"] if row["name"] == "train_npu.csv"]
    snapshot["engagement"]["description"] = {"zh-hans": "E40021 #99999", "en": "E40021 #99999"}
    snapshot["tables"]["meetings"]["rows"] = [
        [f"E{judged['id']}", f"#{judged['job']}", "2025-07-01", "–"]]
    made = docx.Document(io.BytesIO(document_docx(snapshot, "en")))
    addresses = {made.part.rels[link.get(qn("r:id"))].target_ref:
                 "".join(node.text for node in link.iter(qn("w:t")))
                 for link in made.element.iter(qn("w:hyperlink"))}
    assert addresses[f"https://desk.example/artifacts/{judged['id']}/"] == f"E{judged['id']}"
    assert addresses[f"https://desk.example/jobs/{judged['job']}/"] == f"#{judged['job']}"
    assert "E40021 #99999" in [p.text for p in made.paragraphs]
    assert not any("99999" in address or "40021" in address for address in addresses)
    plain = docx.Document(io.BytesIO(document_docx({**snapshot, "portal_url": ""}, "en")))
    assert not list(plain.element.iter(qn("w:hyperlink")))


def test_the_cells_for_signatures_stay_on_one_page(word):
    rows = word.tables[-1].rows
    assert rows[0].cells[0].text == "Party A (customer)"
    stored = [cell.paragraphs[0].paragraph_format.keep_with_next for row in rows
              for cell in row.cells]
    assert stored == [True] * (len(stored) - 2) + [None] * 2


CRITERIA = ("No.", "Model", "Stage", "Metric", "Definition", "Threshold", "Baseline", "Value taken")
CRITERIA_LOOKS = ("number", "code", "text", "text", "code", "number", "text", "text")


def test_the_criteria_of_an_upright_page_give_their_room_to_the_words(word):
    """Many columns are set small, and no metric's name stands word below word."""
    page = word.sections[-1]
    page.page_width, page.page_height = sorted((page.page_width, page.page_height))
    rows = [[n, "PSR", "Inference tuning", "Mean inference latency", "V1", "≤ 200 ms",
             "none (absolute)", "the last run"] for n in range(1, 13)]
    grid(word, CRITERIA, rows, CRITERIA_LOOKS)
    made = word.tables[-1]
    widths = dict(zip(CRITERIA, (cell.width for cell in made.rows[1].cells), strict=True))
    room = page.page_width - page.left_margin - page.right_margin
    assert abs(sum(widths.values()) - room) < Mm(1)
    assert widths["Metric"] == max(widths.values())
    assert widths["Metric"] > 1.4 * widths["Definition"]
    assert widths["No."] < Mm(14)
    assert {run.font.size for cell in made.rows[1].cells for run in cell.paragraphs[0].runs} == {
        Pt(7.5)}


def test_few_columns_keep_the_size_of_other_tables(word):
    grid(word, ("Milestone", "Payment"), [["Contract signed", "30 %"]], ("text", "number"))
    [run] = word.tables[-1].rows[1].cells[0].paragraphs[0].runs
    assert run.font.size == Pt(8.5)
