"""Front pages of Word files; heights and locks of workbooks."""

import io

import docx
import openpyxl
import pytest
from django.utils.translation import override
from docx.oxml.ns import qn

from delivery.reports import registry
from delivery.reports.word_file import document_docx
from delivery.reports.workbook import document_xlsx
from tests.delivery.reports.test_kinds import drafted, planned  # noqa: F401  (fixture)


@pytest.fixture
def word(planned, people):  # noqa: F811
    return docx.Document(io.BytesIO(document_docx(drafted(planned, people, "SOW").snapshot, "en")))


@pytest.fixture
def book(planned, people):  # noqa: F811
    snapshot = drafted(planned, people, "HD").snapshot
    snapshot["tables"]["documents"]["rows"] = [
        ["short", "TR-1", "V1.0", "1", "PDF", "0" * 64, "☐"],
        ["a long name of a deliverable " * 20, "TR-2", "V1.0", "1", "PDF", "0" * 64, "☐"]]
    return openpyxl.load_workbook(io.BytesIO(document_xlsx(snapshot, "en")))


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


def test_a_row_is_as_high_as_its_longest_cell_needs(book):
    sheet = book.worksheets[1]
    short, tall = (sheet.row_dimensions[n].height for n in (2, 3))
    width = sheet.column_dimensions["A"].width
    lines = len(sheet["A3"].value) / width
    assert tall > short
    assert tall >= 9 * lines  # letters of nine points


def test_only_the_boxes_to_tick_are_open(book):
    sheet = book.worksheets[1]
    assert sheet.protection.sheet
    assert [cell.protection.locked for cell in sheet[2]] == [True] * 6 + [False]
