"""The rows of an operator comparison of any tool, in execution order."""

from __future__ import annotations

from pathlib import Path

from toolreaders.accuracy.msaccucmp_rows import VERDICT, is_offline, offline_rows
from toolreaders.accuracy.msprobe_rows import CompareRow, in_execution_order
from toolreaders.accuracy.msprobe_table import compare_table, json_table
from toolreaders.base import Sample, open_source
from toolreaders.csv_rows import csv_header
from toolreaders.xlsx import is_zip


def executed_rows(path: str | Path) -> tuple[list[CompareRow], str]:
    """Every row of a comparison in execution order, and the name of the tool's verdict column.

    Raises ReadError for damaged files and for files that are no comparison of msprobe or msaccucmp.
    """
    source = open_source(path)
    if not is_zip(source) and is_offline(csv_header(Sample(source, source.head))):
        return offline_rows(source), VERDICT
    is_json = not is_zip(source) and source.head.lstrip(b"\xef\xbb\xbf \r\n\t")[:1] == b"{"
    table = json_table(source) if is_json else compare_table(source)
    return in_execution_order(table.rows), table.verdict
