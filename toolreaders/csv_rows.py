"""CSV tables of tools: quoted cells span lines, stacks make long cells, a BOM may come first."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from toolreaders.base import Sample, Source
from toolreaders.source import ReadError
from toolreaders.xlsx import Row

csv.field_size_limit(16 * 1024**2)


LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


def csv_lines(content: str) -> Iterator[str]:
    """Lines with their ends, for `csv.reader`; unlike StringIO without a copy of four bytes a
    character."""
    return (found[0] for found in LINE.finditer(content))


def csv_rows(source: Source) -> Iterator[Row]:
    """Rows of a CSV file, the header first; quoted cells may span lines."""
    content = source.text.lstrip("\ufeff")
    try:
        yield from map(tuple, csv.reader(csv_lines(content)))
    except csv.Error as error:
        raise ReadError("damaged_csv", f"The table cannot be read: {error}.") from error


def csv_header(sample: Sample) -> list[str]:
    """Cells of a text sample's first non-empty line, [] for binary files."""
    if sample.is_binary or not sample.text:
        return []
    line = sample.text.lstrip("\ufeff\r\n ").split("\n", 1)[0].strip()
    try:
        return [cell.strip() for cell in next(csv.reader([line[:20000]]), [])]
    except csv.Error:
        return []
