"""Workbooks are read as openpyxl reads them."""

import warnings
import zipfile
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import openpyxl
import pytest
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.utils.datetime import CALENDAR_MAC_1904

from toolreaders import ReadError
from toolreaders.xlsx import _workbook

SAMPLES = sorted((Path(__file__).parents[2] / "samples").rglob("*.xlsx"))
NOW = datetime(2026, 11, 29, 16, 30, 15, 250_000, tzinfo=UTC).replace(tzinfo=None)


def by_openpyxl(path: Path) -> dict[str, list[tuple]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)
    found = {}
    for sheet in book.worksheets:
        sheet.reset_dimensions()
        found[sheet.title] = list(map(tuple, sheet.iter_rows(values_only=True)))
    book.close()
    return found


def require_same(path: Path) -> dict[str, list[tuple]]:
    book = _workbook(path, path.stat().st_mtime_ns, path.stat().st_size)
    found = {title: list(book.rows(title)) for title in book.sheet_names}
    assert found == by_openpyxl(path)
    assert [type(cell) for rows in found.values() for row in rows for cell in row] == [
        type(cell) for rows in by_openpyxl(path).values() for row in rows for cell in row]
    return found


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_samples(path):
    require_same(path)


@pytest.mark.parametrize("is_1904", [False, True])
def test_every_kind_of_cell(tmp_path, is_1904):
    book = openpyxl.Workbook()
    if is_1904:
        book.epoch = CALENDAR_MAC_1904
    sheet = book.active
    sheet.append(["文字", " spaces ", "", None, "a\nb", "<&>", True, False, 0, -3, 2.5, 1e300,
                  1e-9])
    sheet["B4"] = NOW
    sheet["C4"], sheet["D4"], sheet["E4"] = date(2024, 2, 29), time(8, 5), timedelta(hours=30)
    sheet["F4"], sheet["G4"] = 0.25, 45000
    sheet["F4"].number_format, sheet["G4"].number_format = '0.00" day"', "yyyy-mm-dd"
    sheet["H4"], sheet["H4"].number_format = 59.5, "[Red]d.m.yy"
    sheet["I4"], sheet["I4"].number_format = 0, "h:mm"
    sheet["J4"], sheet["J4"].number_format = 1.75, "[h]:mm:ss"
    sheet["AB6"], sheet["A6"] = "far", "=1/0"
    sheet["B6"] = CellRichText("one ", TextBlock(InlineFont(b=True), "two"), " three")
    sheet["C6"] = "#DIV/0!"
    book.create_sheet("隐藏").sheet_state = "hidden"
    book.create_sheet("empty")
    path = tmp_path / "book.xlsx"
    book.save(path)
    first = next(iter(require_same(path).values()))
    assert first[1:3] == [(), ()]
    assert first[3][1] == NOW


def test_a_column_beyond_the_last_is_damage(tmp_path):
    book = openpyxl.Workbook()
    book.active["A1"] = "x"
    book.save(tmp_path / "good.xlsx")
    path = tmp_path / "wide.xlsx"
    with zipfile.ZipFile(tmp_path / "good.xlsx") as good, zipfile.ZipFile(path, "w") as wide:
        for name in good.namelist():
            wide.writestr(name, good.read(name).replace(b'r="A1"', b'r="ZZZZZZ1"'))
    with pytest.raises(ReadError, match="damaged"):
        _workbook(path, 1, 1)
