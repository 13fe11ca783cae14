"""Workbooks and archives from outside: sizes and names are checked before anything is unpacked.

Limits are ours: an Excel sheet of a real tool stays far below them, a zip bomb does not.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from toolreaders.decoding import ZIP_MAGIC
from toolreaders.source import ReadError, Source
from toolreaders.spreadsheet import Row, Spreadsheet

MAX_TOTAL_BYTES = 200 * 1024**2
MAX_RATIO = 300
RATIO_FLOOR_BYTES = 20 * 1024**2
MAX_MEMBERS = 20_000
MAX_ROWS = 1_048_576
MAX_CELLS = 20_000_000
MAX_SHEETS = 64
WORKBOOK_PART = "xl/workbook.xml"


@dataclass(frozen=True)
class Workbook:
    """An .xlsx file: sheet names with their first rows, and its rows on demand."""

    path: Path
    headers: dict[str, Row]

    @property
    def sheet_names(self) -> list[str]:
        return list(self.headers)

    def rows(self, name: str) -> Iterator[Row]:
        """Values of every row of the sheet, the header first; rows are not padded."""
        with _opened(self.path) as book:
            yield from _rows(book, name)

    def has(self, *columns: str) -> str | None:
        """Name of the first sheet whose header holds all ``columns``, None if there is none."""
        for name, header in self.headers.items():
            if set(columns) <= {text(cell) for cell in header}:
                return name
        return None


def is_zip(source: Source) -> bool:
    """True for files that begin like a zip archive."""
    return source.head[:4] == ZIP_MAGIC


def members(path: Path) -> list[zipfile.ZipInfo]:
    """Members of the archive after checking it: codes damaged_zip, unsafe_archive, too_large."""
    try:
        with zipfile.ZipFile(path) as archive:
            found = archive.infolist()
    except (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError) as error:
        message = f"The archive is damaged or cut off: {error}."
        raise ReadError("damaged_zip", message) from error
    _check_sizes(found)
    for member in found:
        _check_name(member.filename)
        if member.flag_bits & 0x1:
            raise ReadError("encrypted_archive", "The archive is encrypted.")
    return found


def _check_sizes(found: list[zipfile.ZipInfo]) -> None:
    total = sum(member.file_size for member in found)
    packed = sum(member.compress_size for member in found) or 1
    if len(found) > MAX_MEMBERS or total > MAX_TOTAL_BYTES:
        message = f"The archive unpacks to {total:,} bytes in {len(found):,} files: too large."
        raise ReadError("too_large", message)
    if total > RATIO_FLOOR_BYTES and total / packed > MAX_RATIO:
        message = f"The archive unpacks to {total / packed:,.0f} times its size (a zip bomb)."
        raise ReadError("unsafe_archive", message)


def _check_name(name: str) -> None:
    normal = name.replace("\\", "/")
    if normal.startswith("/") or ".." in PurePosixPath(normal).parts or normal[1:2] == ":":
        message = f"The archive holds a path that leads outside of it: {name!r}."
        raise ReadError("unsafe_archive", message)


def member_bytes(path: Path, name: str) -> bytes:
    """One member of an archive that ``members`` accepted; raises damaged_zip."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.read(name)
    except Exception as error:  # zlib, CRC, unknown methods: all the same to the reader
        message = f"{name} in the archive cannot be unpacked: {error}."
        raise ReadError("damaged_zip", message) from error


def workbook_of(source: Source) -> Workbook | None:
    """The file as a workbook; None for other files; ReadError for hostile or damaged archives."""
    if not is_zip(source):
        return None
    state = source.path.stat()
    return _workbook(source.path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=8)
def _workbook(path: Path, _changed: int, _size: int) -> Workbook | None:
    if WORKBOOK_PART not in {member.filename for member in members(path)}:
        return None
    with _opened(path) as book:
        if len(book.sheets) > MAX_SHEETS:
            raise ReadError("too_large", f"The workbook has {len(book.sheets)} sheets.")
        return Workbook(path, {title: next(_rows(book, title), ()) for title in book.sheets})


@contextmanager
def _opened(path: Path) -> Iterator[Spreadsheet]:
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError) as error:
        raise _damaged(error) from error
    with archive:
        try:
            book = Spreadsheet(archive, WORKBOOK_PART)
        except Exception as error:  # the parser lets every kind of error out of damaged files
            raise _damaged(error) from error
        yield book


def _damaged(error: Exception) -> ReadError:
    return ReadError("damaged_xlsx", f"The workbook cannot be opened: {error!r}.")


def _rows(book: Spreadsheet, title: str) -> Iterator[Row]:
    """Rows of a sheet; its declared dimensions are not believed, its rows and cells are counted."""
    cells = 0
    rows = book.rows(title)
    for number in range(MAX_ROWS + 1):
        try:
            row = next(rows, None)
        except Exception as error:
            message = f"Sheet {title} is damaged after row {number}: {error!r}."
            raise ReadError("damaged_xlsx", message) from error
        if row is None:
            return
        cells += len(row)
        if cells > MAX_CELLS:
            raise ReadError("too_large", f"Sheet {title} has too many cells.")
        yield row
    raise ReadError("too_large", f"Sheet {title} has more than {MAX_ROWS:,} rows.")


def text(cell: Any) -> str:
    """A cell as stripped text; empty cells are ""."""
    return "" if cell is None else str(cell).strip()
