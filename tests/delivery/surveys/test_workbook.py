"""The workbook out and in: what it holds, what a changed one changes, and hostile ones."""

import io
import zipfile
from datetime import datetime

import openpyxl
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from delivery.surveys.answer_sheet import Sheet
from delivery.surveys.services import Change, save_answers
from delivery.surveys.workbook_export import sheet_of, survey_xlsx
from delivery.surveys.workbook_import import read_workbook
from engagements.errors import InvalidInput
from engagements.models import MigratedModel, Role


def opened(survey, language="en"):
    return openpyxl.load_workbook(io.BytesIO(survey_xlsx(survey, language)))


def packed(book) -> bytes:
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


def place(book, name):
    """The cell of an input, looked up by key and model code."""
    key, _at, code = name.partition("@")
    page = book[sheet_of(book.sheetnames, bool(code))]
    row = next(r for r in range(4, page.max_row + 1) if page.cell(r, 1).value == key)
    column = next(c for c in range(6, page.max_column + 1)
                  if not code or page.cell(3, c).value == code)
    return page.cell(row, column)


@pytest.mark.parametrize("language", ["zh-hans", "en"])
def test_a_workbook_read_back_unchanged_changes_nothing(complete, language):
    reading = read_workbook(complete, survey_xlsx(complete, language))
    assert (reading.differences, reading.errors) == ([], [])
    assert reading.unchanged == len(Sheet(complete).cells)


def test_it_has_drop_downs_notes_and_language(survey):
    book = opened(survey, "zh-hans")
    chip = place(book, "chip")
    assert book["项目"].cell(chip.row, 4).value == "昇腾型号"
    assert book["项目"].cell(chip.row, 4).comment.text
    [rule] = [v for v in book["项目"].data_validations.dataValidation if chip.coordinate in v]
    column = rule.formula1.split("$")[1]
    assert [c.value for c in book["_lists"][column] if c.value] == [
        "Ascend 910", "Ascend 910B", "Ascend 910C（Atlas A3）", "Ascend 310P（Atlas 300I Duo）"]


@pytest.mark.slow
def test_changed_cells_are_previewed_and_the_rest_stays(complete, people, client):
    book = opened(complete)
    place(book, "chip").value = "Ascend 910C"
    place(book, "parameters@LLM").value = 7.5
    before = {name: cell.value for name, cell in Sheet(complete).cells.items()}
    client.force_login(people[Role.REVIEWER])
    page = client.post(reverse("surveys:upload", args=["EP2501"]), {
        "file": SimpleUploadedFile("s.xlsx", packed(book))})
    names = [d.cell.name for d in page.context["reading"].differences]
    assert names == ["chip", "parameters@LLM"]
    assert {n: c.value for n, c in Sheet(complete).cells.items()} == before
    client.post(reverse("surveys:upload_apply", args=["EP2501"]),
                {"signed": page.context["signed"]})
    after = {name: cell.value for name, cell in Sheet(complete).cells.items()}
    assert after == {**before, "chip": "910c", "parameters@LLM": "7.5"}


def test_what_changed_here_since_the_export_is_not_overwritten(complete, people):
    book = opened(complete)
    revision = Sheet(complete).cells["need"].revision
    save_answers(actor=people[Role.CONSULTANT], survey=complete,
                 changes=[Change("need", "这里改的", revision)])
    place(book, "chip").value = "Ascend 910C"
    assert [d.cell.name for d in read_workbook(complete, packed(book)).differences] == ["chip"]
    place(book, "need").value = "表里改的"
    found = {d.cell.name: d for d in read_workbook(complete, packed(book)).differences}
    assert found["need"].is_overtaken
    saved = save_answers(actor=people[Role.CONSULTANT], survey=complete,
                         changes=[d.change for d in found.values()])
    assert (saved.names, [c.cell.name for c in saved.conflicts]) == (["chip"], ["need"])


@pytest.mark.parametrize(("name", "value"), [
    ("cards", "=1+1"), ("cards", "acht"), ("deadline", "bald"), ("chip", "H100")])
def test_wrong_cells_are_named(complete, name, value):
    book = opened(complete)
    cell = place(book, name)
    cell.value = value
    [error] = read_workbook(complete, packed(book)).errors
    assert (error.sheet, error.cell) == ("Engagement", cell.coordinate)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["=1+1", "+49 10", "-x", "@SUM(A1)", "'quoted", "''"])
def test_formulas_are_neutralised_and_come_back_as_they_were(complete, people, text):
    revision = Sheet(complete).cells["need"].revision
    save_answers(actor=people[Role.CONSULTANT], survey=complete,
                 changes=[Change("need", text, revision)])
    cell = place(opened(complete), "need")
    assert cell.data_type == "s"
    assert cell.value == f"'{text}"
    assert read_workbook(complete, survey_xlsx(complete, "en")).differences == []


def bomb() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b" " * (40 * 2**20))
    return data.getvalue()


def long(survey) -> bytes:
    book = opened(survey)
    book["Models"].cell(5000, 1, "x")
    return packed(book)


@pytest.mark.parametrize("make", [
    lambda s: b"", lambda s: b"PK\x03\x04 cut off", lambda s: b"\xd0\xcf\x11\xe0" + b"x" * 99,
    lambda s: b"x" * (6 * 2**20), lambda s: bomb(), long,
    lambda s: packed(openpyxl.Workbook())],
    ids=["empty", "cut", "password", "huge", "bomb", "long", "foreign"])
def test_hostile_files_end_in_one_sentence(survey, make):
    with pytest.raises(InvalidInput) as error:
        read_workbook(survey, make(survey))
    assert error.value.message.count("\n") == 0


@pytest.mark.parametrize("language", ["zh-hans", "en"])
def test_tabs_are_of_the_language_and_older_names_are_read(complete, language):
    book = opened(complete, language)
    names = book.sheetnames[:2]
    assert names == {"zh-hans": ["项目", "模型"], "en": ["Engagement", "Models"]}[language]
    for name, older in zip(names, ("engagement", "models"), strict=True):
        book[name].title = older + "_"  # the program keeps names apart without case
        book[older + "_"].title = older
    reading = read_workbook(complete, packed(book))
    assert (reading.differences, reading.errors) == ([], [])


def test_of_merged_cells_nothing_is_taken_and_the_rest_is_read(complete):
    book = opened(complete)
    chip, need = place(book, "chip"), place(book, "need")
    chip.value = "Ascend 910C"
    area = f"F{need.row}:F{need.row + 1}"
    book["Engagement"].merge_cells(area)
    book["Models"].merge_cells("A1:D1")  # a heading does no harm
    reading = read_workbook(complete, packed(book))
    assert [(error.sheet, error.cell) for error in reading.errors] == [("Engagement", area)]
    assert [row.cell.name for row in reading.differences] == ["chip"]


def test_a_book_full_of_formulas_says_so_cell_by_cell(complete):
    book = opened(complete)
    page = book["Models"]
    cells = [page.cell(row, 6) for row in range(4, page.max_row + 1)]
    for cell in cells:
        cell.value = "=HYPERLINK(\"http://example.com\")"
    reading = read_workbook(complete, packed(book))
    assert [error.cell for error in reading.errors] == [cell.coordinate for cell in cells]
    assert reading.differences == []


def test_a_date_in_a_text_cell_is_that_day(complete):
    book = opened(complete)
    place(book, "need").value = datetime(2026, 3, 31)
    [row] = read_workbook(complete, packed(book)).differences
    assert row.after == "2026-03-31"


@pytest.mark.slow
def test_three_hundred_models_come_back(complete):
    MigratedModel.objects.bulk_create(
        MigratedModel(engagement=complete.engagement, code=f"N{n:03}", name="模型")
        for n in range(300))
    reading = read_workbook(complete, survey_xlsx(complete, "zh-hans"))
    assert (reading.differences, reading.errors) == ([], [])
    assert reading.unchanged == len(Sheet(complete).cells)
