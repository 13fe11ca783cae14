"""convert_tf2npu: its reports and its log (Ascend/tensorflow 2021, hicann/tensorflow 2026).

Labels of support differ between versions and need not add up to the total (DOMAIN 5.9). Empty
report files are usual: an empty failed_report.txt means none. Every report may also hold a line
“Finish conver file” per file, before or behind its entries.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.xlsx import text, workbook_of

NEEDED = ("序号", "脚本文件名", "代码行", "模块名", "API名")
SUPPORT = ("工具迁移API支持度", "支持度")
ADVICE = ("说明", "迁移建议")
NOTE = re.compile(r"[- ]*#")
CONTINUED = re.compile(r"(?<=[:,])[ \r]*\n +(?=\w)")
"""As documents show the report: between notes, its long lines broken."""
TITLE = re.compile(
    r"^(?:- )?(?P<number>[12])\.(?:In brief|After eliminate duplicate): *(?P<rest>.*)$")
TOTAL = re.compile(r"Total API: *(?P<total>\d+)(?:, *in which *(?P<parts>.*))?")
PART = re.compile(r"(?P<name>[A-Za-z][^:,]*): *(?P<count>\d+)")
CHANGE = re.compile(r"^(?P<file>\S.*?\.py):(?P<line>\d+) (?P<what>\S.*)$")
UNSUPPORTED = re.compile(
    r"(?P<file>[^\s:]\S*?\.py):(?P<line>\d+)"
    r"(?:, NPU Unsupport API: *(?P<api>[\w.]+)| (?P<old>\S.*?) is not support migration)"
)
SKIPPED = re.compile(r"The file: *(?P<file>\S+) size is over 10M, skip convert")
MANUAL = re.compile(r"^(?P<file>\S.*?\.py):(?P<line>\d+) (?P<what>.*migrated manually.*)$")
BEGIN = re.compile(r"^Begin conver(?:, input file| file): *(?P<file>.*)$", re.MULTILINE)
FINISH_FILE = re.compile(r"^Finish conver file: *(?P<file>.*)$")
FINISH = re.compile(
    r"^Finish conver, output file: *(?P<output>[^;]*)(?:; report file: *(?P<report>.*))?$"
)
NEW_ONLY = ("API support after migration", "Not support or recommended", "Compatible")
LISTED = 500
# DOMAIN 5.9: classes in which somebody has to do something
BLOCKING = ("不支持（无迁移方案", "Not support or recommended", "Unsupport")


def asks_for_work(support: str) -> bool:
    """Whether an API of this class is unsupported and stands in the way.

    “不支持（不影响迁移，无需干预）” does not, such as `get_memory_growth`; docs/source-scan.md
    lists the seven classes.
    """
    return support.startswith("不支持") and "不影响" not in support


def _first_entry(sample: Sample) -> str:
    """The first line that is neither blank nor the end mark of a file."""
    return next((line for line in sample.lines if line.strip() and not FINISH_FILE.match(line)), "")


def _api(hit: re.Match[str]) -> str:
    return hit["api"] or hit["old"]


def _brief(line: str) -> dict[str, Any] | None:
    """Totals of one line of the brief report."""
    title = TITLE.match(line.strip())
    found = TOTAL.search(title["rest"]) if title else None
    if found is None:
        return None
    parts = {p["name"].strip(): int(p["count"]) for p in PART.finditer(found["parts"] or "")}
    return {"total": int(found["total"]), "classes": parts, "sum_of_classes": sum(parts.values())}


def _layout(classes: dict[str, int]) -> str:
    return "new" if any(name in classes for name in NEW_ONLY) else "old"


@register
class BriefReader(Reader):
    """``api_brief_report.txt``: how many APIs of which class, with and without duplicates."""

    name = "convert_tf2npu_brief"
    kind = "tf_conversion"
    tool = "convert_tf2npu"

    def recognises(self, sample: Sample) -> int:
        lines = [line for line in sample.lines[:3] if line.strip() and not NOTE.match(line)]
        return 95 if lines and _brief(lines[0]) else 0

    def read(self, source: Source) -> Reading:
        lines = CONTINUED.sub(" ", source.text).split("\n")
        briefs = [found for line in lines if (found := _brief(line))]
        values = {"form": "brief", **_brief_values(briefs)}
        warnings = []
        if len(briefs) != 2:
            message = "The brief report does not hold both of its lines: it was cut off."
            warnings.append(ReadingWarning("truncated_record", message))
        return self.reading(values, warnings=warnings)


def _brief_values(briefs: list[dict[str, Any]]) -> dict[str, Any]:
    first = briefs[0] if briefs else {"total": None, "classes": {}, "sum_of_classes": 0}
    return {
        "layout": _layout(first["classes"]) if briefs else None,
        **first,
        "unsupported": sum(
            count for name, count in first["classes"].items() if name.startswith(BLOCKING)
        ),
        "unique": briefs[1] if len(briefs) > 1 else None,
    }


@register
class ApiTableReader(Reader):
    """``api_analysis_report.xlsx``: one row per use of an API."""

    name = "convert_tf2npu_api_table"
    kind = "tf_conversion"
    tool = "convert_tf2npu"

    def recognises(self, sample: Sample) -> int:
        book = workbook_of(sample.source)
        return 95 if book is not None and book.has(*NEEDED) else 0

    def read(self, source: Source) -> Reading:
        book = workbook_of(source)
        sheet = book.has(*NEEDED) if book is not None else None
        if book is None or sheet is None:
            raise ReadError("damaged_xlsx", "No sheet holds the analysis.")
        header = [text(cell) for cell in book.headers[sheet]]
        support = next((name for name in SUPPORT if name in header), None)
        if support is None:
            raise ReadError("damaged_xlsx", "The analysis has no column with the support.")
        rows = [
            dict(zip(header, (text(cell) for cell in row), strict=False))
            for row in list(book.rows(sheet))[1:]
            if any(text(cell) for cell in row)
        ]
        return self.reading(_table_values(header, support, rows))


def _table_values(header: list[str], support: str, rows: list[dict[str, str]]) -> dict[str, Any]:
    advice = next((name for name in ADVICE if name in header), "")
    classes = Counter(row.get(support, "") or "NA" for row in rows)
    blocked = [row for row in rows if asks_for_work(row.get(support, ""))]
    return {
        "form": "api_table",
        "layout": "new" if support == SUPPORT[0] else "old",
        "rows": len(rows),
        "support_column": support,
        "classes": dict(classes),
        "unsupported": len(blocked),
        "unsupported_apis": dict(Counter(row["API名"] for row in blocked)),
        "files": dict(Counter(row["脚本文件名"] for row in rows).most_common()),
        "items": [
            {"file": row["脚本文件名"], "line": row["代码行"], "api": row["API名"],
             "support": row.get(support), "advice": row.get(advice) or None}
            for row in rows if not row.get(support, "").startswith("支持")
        ][:LISTED],
    }  # fmt: skip


@register
class FailedReportReader(Reader):
    """``failed_report.txt``: uses of APIs that the NPU does not support."""

    name = "convert_tf2npu_failed"
    kind = "tf_conversion"
    tool = "convert_tf2npu"

    def recognises(self, sample: Sample) -> int:
        return 85 if UNSUPPORTED.match(_first_entry(sample)) else 0

    def read(self, source: Source) -> Reading:
        found = [hit for _number, line in source.lines() if (hit := UNSUPPORTED.search(line))]
        values = {
            "form": "failed",
            "rows": len(found),
            "unsupported": len(found),
            "apis": dict(Counter(map(_api, found))),
            "items": [_place(hit, api=_api(hit)) for hit in found][:LISTED],
        }
        message = "This file lists more uses than the brief report counts as not supported."
        return self.reading(values, warnings=[ReadingWarning("counts_differ_from_brief", message)])


def _place(hit: re.Match[str], **more: Any) -> dict[str, Any]:
    return {"file": hit["file"], "line": int(hit["line"]), **more}


@register
class ManualReader(Reader):
    """``need_migration_doc.txt``: what has to be migrated by hand, each with an example."""

    name = "convert_tf2npu_manual"
    kind = "tf_conversion"
    tool = "convert_tf2npu"

    def recognises(self, sample: Sample) -> int:
        return 85 if MANUAL.match(_first_entry(sample)) else 0

    def read(self, source: Source) -> Reading:
        lines = list(source.lines())
        found = [hit for _number, line in lines if (hit := MANUAL.match(line))]
        values = {
            "form": "manual",
            "lines": lines[-1][0],
            "rows": len(found),
            "items": [_place(hit, what=hit["what"]) for hit in found][:LISTED],
        }
        return self.reading(values)


@register
class SuccessReportReader(Reader):
    """``success_report.txt``: one line per change, ``path:line change``."""

    name = "convert_tf2npu_success"
    kind = "tf_conversion"
    tool = "convert_tf2npu"

    def recognises(self, sample: Sample) -> int:
        lines = [line for line in sample.lines[:40]
                 if line.strip() and not FINISH_FILE.match(line)]
        changes = [line for line in lines if CHANGE.match(line) and not MANUAL.match(line)]
        # compilers and linters also print path:line; those follow it with another colon
        words = re.compile(r"npu|tpu|\bchange |\badd |import |remove|hvd|session", re.IGNORECASE)
        found = [line for line in changes if words.search(line.split(" ", 1)[1])]
        return 70 if lines and len(found) * 2 > len(lines) and CHANGE.match(lines[0]) else 0

    def read(self, source: Source) -> Reading:
        found = [hit for _number, line in source.lines() if (hit := CHANGE.match(line))]
        values = {
            "form": "success",
            "rows": len(found),
            "changes": len(found),
            "files": dict(Counter(hit["file"] for hit in found).most_common()),
            "items": [_place(hit, what=hit["what"]) for hit in found][:LISTED],
        }
        warnings = []
        if not source.ends_with_newline():
            message = "The last line has no line end: the report may be cut off."
            warnings.append(ReadingWarning("truncated_record", message))
        return self.reading(values, warnings=warnings)


@register
class ConversionLogReader(Reader):
    """stdout of convert_tf2npu; "Finish conver, output file" is its end."""

    name = "convert_tf2npu_log"
    kind = "tf_conversion"
    tool = "convert_tf2npu"

    def recognises(self, sample: Sample) -> int:
        return 90 if BEGIN.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        lines = [(number, line.rstrip()) for number, line in source.lines()]
        briefs = [found for _number, line in lines if (found := _brief(line))]
        ends = [hit for _number, line in lines if (hit := FINISH.match(line))]
        begun = [hit["file"] for _number, line in lines if (hit := BEGIN.match(line))]
        skipped = [hit["file"] for _number, line in lines if (hit := SKIPPED.search(line))]
        done = [hit["file"] for _number, line in lines if (hit := FINISH_FILE.match(line))]
        unsupported = [hit for _n, line in lines if (hit := UNSUPPORTED.search(line))]
        values = {
            "form": "log",
            "succeeded": bool(ends),
            **_brief_values(briefs),
            "files": len(begun[1:]),
            "files_finished": len(done),
            "skipped_files": skipped[:LISTED],
            "output": ends[-1]["output"].strip() if ends else None,
            "report": (ends[-1]["report"] or "").strip() or None if ends else None,
            "unsupported_apis": dict(Counter(map(_api, unsupported))),
            "items": [_place(hit, api=_api(hit)) for hit in unsupported][:LISTED],
        }
        return self.reading(values, warnings=_log_warnings(lines, succeeded=bool(ends)))


def _log_warnings(lines: list[tuple[int, str]], *, succeeded: bool) -> Iterator[ReadingWarning]:
    if not succeeded:
        message = "The log has no “Finish conver, output file”: the conversion ended early."
        yield ReadingWarning("run_not_finished", message, lines[-1][0] if lines else None)
    for number, line in lines:
        if line.startswith("Traceback (most recent call last)"):
            yield ReadingWarning("traceback", "The log holds a Python traceback.", number)
            return
