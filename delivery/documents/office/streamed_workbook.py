"""A workbook of one sheet on its way: what is written is sent, and only a piece of it is held.

openpyxl writes a sheet to its end before the archive begins; whoever downloads a long list would
wait for all of its rows.
"""

import zipfile
from collections.abc import Iterable, Iterator
from datetime import date
from decimal import Decimal
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from openpyxl.utils.cell import get_column_letter
from openpyxl.utils.datetime import to_excel

from delivery.documents.office.workbook_styles import safe_text
from workers.jobs.zip_stream import Sink

HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
SHEET_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
PLAIN, BOLD, DATE = range(3)  # places in `cellXfs`
STYLES = (
    f'{HEAD}<styleSheet xmlns="{MAIN}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/>'
    '</font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill>'
    '<patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>'
    '</fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>'
    '<cellXfs count="3"><xf xfId="0"/><xf xfId="0" fontId="1" applyFont="1"/>'
    '<xf xfId="0" numFmtId="14" applyNumberFormat="1"/></cellXfs><cellStyles count="1">'
    '<cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>')


def streamed_workbook(title: str, headings: list[str], batches: Iterable[list[list[Any]]]
                      ) -> Iterator[bytes]:
    """The bytes of a workbook with a heading and rows; a batch of rows is asked for when needed.

    Args:
        batches: rows of texts, numbers, dates and None; no text becomes a formula.
    """
    return filter(None, _written(title, headings, batches))


def _written(title: str, headings: list[str], batches: Iterable[list[list[Any]]]
             ) -> Iterator[bytes]:
    sink = Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in _parts(title):
            archive.writestr(name, text)
        yield sink.taken()
        with archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
            sheet.write((
                f'{HEAD}<worksheet xmlns="{MAIN}"><sheetViews><sheetView workbookViewId="0">'
                '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>'
                "</sheetView></sheetViews><sheetData>" + _row(1, headings, BOLD)).encode())
            number = 1
            for batch in batches:
                for row in batch:
                    number += 1
                    sheet.write(_row(number, row).encode())
                yield sink.taken()
            sheet.write(b"</sheetData></worksheet>")
    yield sink.taken()


def _parts(title: str) -> Iterator[tuple[str, str]]:
    """Everything but the sheet."""
    def part(name: str, kind: str) -> str:
        return f'<Override PartName="/xl/{name}.xml" ContentType="{SHEET_TYPE}.{kind}+xml"/>'

    def relations(*targets: tuple[str, str]) -> str:
        links = "".join(f'<Relationship Id="r{n}" Type="{OFFICE}/{kind}" Target="{target}"/>'
                        for n, (kind, target) in enumerate(targets, start=1))
        return f'{HEAD}<Relationships xmlns="{PACKAGE}/relationships">{links}</Relationships>'

    yield "[Content_Types].xml", (
        f'{HEAD}<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
        f'ContentType="application/xml"/>{part("workbook", "sheet.main")}'
        f'{part("worksheets/sheet1", "worksheet")}{part("styles", "styles")}</Types>')
    yield "_rels/.rels", relations(("officeDocument", "xl/workbook.xml"))
    yield "xl/workbook.xml", (
        f'{HEAD}<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets><sheet '
        f'name={quoteattr(title[:31])} sheetId="1" r:id="r1"/></sheets></workbook>')
    yield "xl/_rels/workbook.xml.rels", relations(
        ("worksheet", "worksheets/sheet1.xml"), ("styles", "styles.xml"))
    yield "xl/styles.xml", STYLES


def _row(number: int, values: list[Any], style: int = PLAIN) -> str:
    cells = "".join(_cell(f"{get_column_letter(column)}{number}", value, style)
                    for column, value in enumerate(values, start=1))
    return f'<row r="{number}">{cells}</row>'


def _cell(place: str, value: Any, style: int) -> str:
    if value is None:
        return ""
    if isinstance(value, date):
        return f'<c r="{place}" s="{DATE}"><v>{to_excel(value)}</v></c>'
    if isinstance(value, (int, float, Decimal)):
        return f'<c r="{place}" s="{style}"><v>{value}</v></c>'
    text = escape(safe_text(str(value)))
    return (f'<c r="{place}" s="{style}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is>'
            "</c>")
