"""msprof-analyze: consoles of advisor, compare and cluster, and their workbooks and web page.

The tool returns 0 on empty or invalid input (26.2.0): ``[ERROR]`` lines are what tells.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.tables import framed_tables
from toolreaders.training.series import to_float
from toolreaders.xlsx import Row, Workbook, workbook_of

KIND = "profile"
BANNER = "THE END-TO-END TOOLCHAIN TO UNLEASH HUAWEI ASCEND COMPUTE"
OWN_MODULES = re.compile(
    r"\[(?:analyzer_controller|base_analyzer|cluster_analysis|detail_performance_generator|"
    r"overall_performance_generator|cluster_dataset|entrance)\.py:\d+\]|msprof-analyze"
)
ERROR = re.compile(r"\[ERROR\](?:\[[^\]]*\])? ?(.*)$")
TIMES = re.compile(r"(-?[\d.]+)s")
ADVISOR_SHEET, COMPARE_SHEET = "问题综述", "OverallMetrics"
# The advisor's overview of the whole run, in either language: share of the time of a step.
OVERVIEW_SHEETS = {"整网耗时分析", "Overall Summary"}
OVERVIEW = {"计算时长": "computing", "Computing Time": "computing",
            "-- SDMA(Tensor Move)": "memory_moves",
            "未被掩盖的通信时长": "communication", "Uncovered Communication Time": "communication",
            "空闲时长": "free", "Free Time": "free"}
CATEGORY = ("类型", "类别", "category", "problem")
MOST_ROWS = 10_000


@register
class MsprofConsoleReader(Reader):
    """Console output of one msprof-analyze command."""

    name = "msprof_analyze_console"
    kind = KIND
    tool = "msprof-analyze"

    def recognises(self, sample: Sample) -> int:
        return 85 if BANNER in sample.text and OWN_MODULES.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        text = source.text
        form = "cluster"
        if "Start schedule analysis" in text or "analyzer_controller" in text:
            form = "advisor"
        elif "detail_performance_generator" in text:
            form = "compare"
        errors = [
            (number, found[1].strip())
            for number, line in source.lines()
            if (found := ERROR.search(line))
        ]
        values: dict[str, Any] = {"form": f"msprof_analyze_{form}", "errors": len(errors)}
        if form == "compare":
            values["rows"] = _compared(source)
        if form == "advisor":
            values["problems"] = _problems(source)
        warnings = [ReadingWarning("tool_error", message, line) for line, message in errors[:20]]
        return self.reading(values, warnings=warnings)


def _compared(source: Source) -> list[dict[str, float]]:
    """Rows of the table of times in seconds; the base stands first, both rows say NPU."""
    for table in framed_tables(source.lines(), least=5):
        if "Computing Time" not in table.header:
            continue
        rows = []
        for cells in table.rows:
            row = {}
            for name, cell in zip(table.header[1:], cells[1:], strict=True):
                if found := TIMES.match(cell):
                    row[name] = float(found[1])
            rows.append(row)
        return rows
    return []


def _problems(source: Source) -> list[str]:
    """Categories of the table of problems, each once, in order."""
    found: list[str] = []
    for table in framed_tables(source.lines(), least=3):
        at = next((i for i, c in enumerate(table.header) if c.lower() in CATEGORY), None)
        if at is not None and table.header[0] == "No.":
            found += [row[at] for row in table.rows if row[0] and row[at] not in found]
    return found


@register
class MsprofWorkbookReader(Reader):
    """Workbooks of advisor (sheet 问题综述) and compare (sheet OverallMetrics)."""

    name = "msprof_analyze_workbook"
    kind = KIND
    tool = "msprof-analyze"

    def recognises(self, sample: Sample) -> int:
        book = workbook_of(sample.source)
        return 90 if book and {ADVISOR_SHEET, COMPARE_SHEET} & set(book.sheet_names) else 0

    def read(self, source: Source) -> Reading:
        book = workbook_of(source)
        assert book is not None, "recognised without a workbook"
        values: dict[str, Any] = {
            "sheets": {name: _extent(book.rows(name)) for name in book.sheet_names}
        }
        if COMPARE_SHEET in book.sheet_names:
            rows = list(islice(book.rows(COMPARE_SHEET), MOST_ROWS))
            values |= {"form": "msprof_analyze_compare", "metrics": _overall(rows)}
        else:
            rows = list(islice(book.rows(ADVISOR_SHEET), 1, MOST_ROWS))
            problems = [str(row[0]) for row in rows if row and row[0]]
            values |= {"form": "msprof_analyze_advisor", "problems": problems,
                       "shares": _shares(book)}
        return self.reading(values)


def _shares(book: Workbook) -> dict[str, float]:
    """Fractions of the time of a step, as far as the advisor states them."""
    found = {}
    for name in OVERVIEW_SHEETS.intersection(book.sheet_names):
        for row in islice(book.rows(name), 1, MOST_ROWS):
            part = OVERVIEW.get(str(row[0]).strip()) if len(row) > 2 else None
            percent = to_float(str(row[2]).rstrip("%")) if part else None
            if part and percent is not None:
                found[part] = percent / 100
    return found


def _extent(rows: Iterator[Row]) -> list[int]:
    """How many rows a sheet has, and how many columns its widest one."""
    widths = Counter(len(row) for row in rows)
    return [widths.total(), max(widths, default=0)]


def _overall(rows: list[Row]) -> list[dict[str, Any]]:
    """Index, duration of base and comparison in ms and their ratio (comparison / base)."""
    start = next((i for i, row in enumerate(rows) if "Index" in [str(cell) for cell in row]), None)
    if start is None:
        raise ReadError("damaged_file", "The sheet OverallMetrics has no header.")
    header = [str(cell) for cell in rows[start]]
    at = [i for i, name in enumerate(header) if name == "Duration(ms)"]
    ratio_at = next((i for i, name in enumerate(header) if name == "Diff Ratio"), None)
    found = []
    for row in rows[start + 1 :]:
        if len(at) < 2 or len(row) <= at[1] or row[0] is None:
            continue
        base, ours = to_float(row[at[0]]), to_float(row[at[1]])
        has_ratio = ratio_at is not None and ratio_at < len(row)
        ratio = to_float(row[ratio_at]) if has_ratio else None
        found.append(
            {"index": str(row[0]).strip(), "base_ms": base, "comparison_ms": ours, "ratio": ratio}
        )
    return found


@register
class MsprofHtmlReader(Reader):
    """Web page of advisor: only recognised, its findings are in the workbook."""

    name = "msprof_analyze_html"
    in_documents = True
    kind = KIND
    tool = "msprof-analyze"

    def recognises(self, sample: Sample) -> int:
        text = sample.text[:20000].lower()
        return 70 if "<html" in text and "performance optimization suggestions" in text else 0

    def read(self, source: Source) -> Reading:
        if "</html>" not in source.text[-2000:].lower():
            raise ReadError("damaged_file", "The page has no end.")
        headings = re.findall(r"<h[1-4][^>]*>\s*([^<]+?)\s*</h[1-4]>", source.text)
        return self.reading({"form": "msprof_analyze_advisor_html", "headings": headings})
