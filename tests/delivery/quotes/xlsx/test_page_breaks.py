"""The printed workbook of a quotation: which rows stand on one page."""

import copy
import shutil
import subprocess

import pytest
from openpyxl import Workbook
from pypdf import PdfReader

from delivery.quotes.snapshot import facts_of
from delivery.quotes.xlsx import workbook
from delivery.quotes.xlsx.header import HEAD_ROW
from delivery.quotes.xlsx.page_breaks import keep_together
from delivery.quotes.xlsx.workbook import quote_xlsx

pytestmark = pytest.mark.django_db
SUMS = {"en": ("Subtotal before discount", "Total including tax"),
        "zh-hans": ("折扣前小计", "价税合计")}


@pytest.mark.parametrize(("rows", "breaks"), [(20, []), (33, [33]), (36, []), (45, [45])])
def test_a_block_that_some_page_would_tear_begins_a_new_one(rows, breaks):
    """A page takes 34 rows of 20 points in Excel, 46 where columns are wider."""
    sheet = Workbook().active
    for row in range(1, rows + 4):
        sheet.row_dimensions[row].height = 20
    sheet.row_dimensions[HEAD_ROW].height = 0.001
    keep_together(sheet, [(rows + 1, rows + 3)], HEAD_ROW)
    assert [entry.id for entry in sheet.row_breaks.brk] == breaks


@pytest.mark.slow
def test_sums_stand_on_one_page_however_many_lines_there_are(issued, tmp_path, monkeypatch):
    office = shutil.which("soffice")
    assert office, "LibreOffice is needed: apt-get install libreoffice-calc"
    facts = facts_of(issued)
    for count in (1, 14, 25, 40, 60):
        lines = [copy.deepcopy(facts["lines"][n % len(facts["lines"])]) for n in range(count)]
        monkeypatch.setattr(workbook, "facts_of", lambda _q, lines=lines: {
            **facts, "lines": lines})
        for language in SUMS:
            (tmp_path / f"{count}-{language}.xlsx").write_bytes(quote_xlsx(issued, language))
    subprocess.run([office, f"-env:UserInstallation=file://{tmp_path}/profile", "--headless",
                    "--convert-to", "pdf", "--outdir", str(tmp_path),
                    *map(str, tmp_path.glob("*.xlsx"))], check=True, capture_output=True,
                   timeout=300)
    torn = [path.name for path in tmp_path.glob("*.pdf") if not _on_one_page(path)]
    assert (len(list(tmp_path.glob("*.pdf"))), torn) == (10, [])
    last = PdfReader(tmp_path / "60-en.pdf").pages[-1].extract_text()
    assert ("Seal and signature" in last, "Unit price" in last) == (True, False)


def _on_one_page(path) -> bool:
    """Whether a page holds both the first and the last of the sums."""
    first, last = SUMS[path.stem.partition("-")[2]]
    pages = [page.extract_text() for page in PdfReader(path).pages]
    return any(first in text and last in text for text in pages)
