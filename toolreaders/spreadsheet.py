"""Cells of .xlsx workbooks (ECMA-376 part 1, SpreadsheetML), row by row, without a package.

Values are those that the workbook holds: of a formula what was computed last. Entities are refused.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator
from datetime import datetime, time, timedelta
from functools import cached_property
from posixpath import normpath
from typing import Any, BinaryIO
from xml.parsers import expat

BLOCK = 2**16
MOST_COLUMNS = 16_384
FIRST_DAY, FIRST_DAY_1904 = datetime(1899, 12, 30), datetime(1904, 1, 1)
LEAP_DAY_1900 = 60  # a day that Excel counts and that there was not
DATE_FORMATS = {*range(14, 23), *range(45, 48)}  # built-in ones, by number
LITERAL = re.compile(r'"[^"]*"|\[(?!hh?\]|mm?\]|ss?\])[^\]]*\]', re.IGNORECASE)
DATE_LETTER = re.compile(r"(?<![_\\])[dmhys]", re.IGNORECASE)
SPAN_FORMATS, SPAN = {46}, re.compile(r"\[(?:hh?|mm?|ss?)\]", re.IGNORECASE)

Row = tuple[Any, ...]
Attributes = dict[str, str]


class Spreadsheet:
    """A workbook within an open archive. Damage raises ValueError, KeyError or expat's error."""

    def __init__(self, archive: zipfile.ZipFile, part: str) -> None:
        self._archive, self._part = archive, part
        self.sheets: dict[str, str] = {}
        self._is_1904 = False
        parts = self._related_parts()
        self._strings_part, self._styles_part = parts.get("sharedStrings"), parts.get("styles")

    def _related_parts(self) -> dict[str, str]:
        """Reads which sheets there are; the workbook's single parts by their kind."""
        folder, _, name = self._part.rpartition("/")
        sheets, targets, parts = {}, {}, {}

        def relation(tag: str, given: Attributes) -> None:
            if tag == "Relationship" and given.get("TargetMode") != "External":
                kind, target = given["Type"].rpartition("/")[2], given["Target"]
                path = target[1:] if target.startswith("/") else normpath(f"{folder}/{target}")
                targets[given["Id"]] = kind, path
                parts[kind] = path

        def sheet(tag: str, given: Attributes) -> None:
            if tag == "sheet":
                sheets[given["name"]] = next(
                    value for key, value in given.items() if key.endswith(":id"))
            elif tag == "workbookPr":
                self._is_1904 = given.get("date1904") in ("1", "true")

        self._read(f"{folder}/_rels/{name}.rels", relation)
        self._read(self._part, sheet)
        found = {title: targets[key] for title, key in sheets.items()}
        self.sheets = {title: path for title, (kind, path) in found.items() if kind == "worksheet"}
        return parts

    def _read(self, part: str, start: Callable[[str, Attributes], None]) -> None:
        with self._archive.open(part) as stream:
            for _block in _parsed(stream, start):
                pass

    def rows(self, title: str) -> Iterator[Row]:
        """Values of every row of a sheet, from the first on; None for an empty cell before others.
        """
        cells = _Cells(self)
        with self._archive.open(self.sheets[title]) as stream:
            for _block in _parsed(stream, cells.start, cells.end, cells.text):
                yield from cells.taken()

    @cached_property
    def strings(self) -> list[str]:
        """The shared strings; phonetic hints are no part of them."""
        found: list[str] = []
        inside = {"t": 0, "rPh": 0}

        def start(tag: str, _given: Attributes) -> None:
            if tag == "si":
                found.append("")
            elif tag in inside:
                inside[tag] += 1

        def end(tag: str) -> None:
            if tag in inside:
                inside[tag] -= 1

        def text(data: str) -> None:
            if inside["t"] and not inside["rPh"]:
                found[-1] += data

        if self._strings_part:
            with self._archive.open(self._strings_part) as stream:
                for _block in _parsed(stream, start, end, text):
                    pass
        return found

    @cached_property
    def styles(self) -> list[str]:
        """What each style of cells shows a number as: `date`, `span` of time, or empty."""
        codes: dict[int, str] = {}
        numbers: list[int] = []
        is_inside = False

        def start(tag: str, given: Attributes) -> None:
            nonlocal is_inside
            if tag == "numFmt":
                codes[int(given["numFmtId"])] = given["formatCode"]
            elif tag in ("cellXfs", "cellStyleXfs"):
                is_inside = tag == "cellXfs"
            elif tag == "xf" and is_inside:
                numbers.append(int(given.get("numFmtId", 0)))

        if self._styles_part:
            self._read(self._styles_part, start)
        return [_shown_as(number, codes.get(number)) for number in numbers]

    def number(self, text: str, style: int) -> Any:
        """A number, or the point or span of time that its style makes of it."""
        value = float(text) if re.search(r"[.eE]", text) else int(text)
        shown = self.styles[style] if 0 < style < len(self.styles) else ""
        if not shown:
            return value
        milliseconds = timedelta(milliseconds=round(value % 1 * 86_400_000))
        if shown == "span":
            return timedelta(days=value // 1) + milliseconds
        if 0 <= value < 1 and milliseconds.days == 0:
            return (datetime.min + milliseconds).time() if milliseconds else time(0)
        start = FIRST_DAY_1904 if self._is_1904 else FIRST_DAY
        days = value // 1 + (1 <= value < LEAP_DAY_1900 and not self._is_1904)
        return start + timedelta(days=days) + milliseconds


def _shown_as(number: int, code: str | None) -> str:
    first = LITERAL.sub("", (code or "").partition(";")[0])
    if SPAN.search(first) or (code is None and number in SPAN_FORMATS):
        return "span"
    is_date = DATE_LETTER.search(first) if code is not None else number in DATE_FORMATS
    return "date" if is_date else ""


class _Cells:
    """Collects the rows of a sheet while it is parsed."""

    def __init__(self, book: Spreadsheet) -> None:
        self._book = book
        self._rows: list[tuple[int, list[Any]]] = []
        self._given = 0  # rows that were handed on
        self._row: list[Any] = []
        self._number = 0
        self._cell: Attributes = {}
        self._text: list[str] | None = None
        self._value: str | None = None

    def start(self, tag: str, given: Attributes) -> None:
        if tag == "c":
            self._cell, self._value = given, None
        elif tag in ("v", "t"):
            self._text = []
        elif tag == "row":
            self._number = int(given.get("r", self._number + 1))
            self._row = []

    def text(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def end(self, tag: str) -> None:
        if tag in ("v", "t") and self._text is not None:
            self._value = (self._value or "" if tag == "t" else "") + "".join(self._text)
            self._text = None
        elif tag == "c":
            column = _column(self._cell.get("r", "")) or len(self._row) + 1
            if column > MOST_COLUMNS:
                raise ValueError(f"column {column}")
            self._row.extend([None] * (column - len(self._row)))
            self._row[column - 1] = self._of_cell()
        elif tag == "row":
            self._rows.append((self._number, self._row))

    def _of_cell(self) -> Any:
        kind, value = self._cell.get("t", "n"), self._value
        if value is None or (kind == "n" and not value.strip()):
            return None
        if kind == "s":
            return self._book.strings[int(value)]
        if kind == "b":
            return bool(int(value))
        if kind == "n":
            return self._book.number(value.strip(), int(self._cell.get("s", 0)))
        return datetime.fromisoformat(value) if kind == "d" else value

    def taken(self) -> Iterator[Row]:
        """The rows since the last call; those that the sheet leaves out are empty."""
        for number, row in self._rows:
            while self._given + 1 < number:
                self._given += 1
                yield ()
            self._given = max(number, self._given + 1)
            yield tuple(row)
        self._rows = []


def _column(reference: str) -> int:
    """The number of the column in `B12`; 0 where the reference names none."""
    number = 0
    for letter in reference.rstrip("0123456789"):
        number = 26 * number + ord(letter.upper()) - 64
    return number


def _parsed(stream: BinaryIO | Any, start: Callable[[str, Attributes], None],
            end: Callable[[str], None] = lambda _tag: None,
            text: Callable[[str], None] = lambda _data: None) -> Iterator[None]:
    """Parse a part block by block; tags lose their prefixes."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.EntityDeclHandler = _refuse
    parser.StartElementHandler = lambda tag, given: start(tag.rpartition(":")[2], given)
    parser.EndElementHandler = lambda tag: end(tag.rpartition(":")[2])
    parser.CharacterDataHandler = text
    while block := stream.read(BLOCK):
        parser.Parse(block, False)
        yield
    parser.Parse(b"", True)
    yield


def _refuse(*_declared: Any) -> None:
    raise ValueError("the part declares entities")
