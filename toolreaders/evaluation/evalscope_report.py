"""EvalScope's evaluation reports: the table it prints and its JSON files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.evaluation.scores import KIND, scale_of
from toolreaders.source import ReadError
from toolreaders.tables import framed_tables
from toolreaders.training.series import to_float


@register
class EvalScopeReportReader(Reader):
    """Evaluation report: the printed table, a report's JSON, or several in ``report_list``."""

    name = "evalscope_report"
    kind = KIND
    version = "2"
    tool = "EvalScope"
    header = re.compile(
        r"\| *Model(?: Name)? *\| *Dataset(?: Name)? *\| *Metric(?: Name)? *\|.*\| *Num *\| *Score"
    )

    def recognises(self, sample: Sample) -> int:
        if self.header.search(sample.text):
            return 90
        if '"dataset_name"' not in sample.text or '"metrics"' not in sample.text:
            return 0
        return 90 if any(map(_is_report, _reports(sample.json))) else 0

    def read(self, source: Source) -> Reading:
        reports = [report for report in _reports(source.json) if _is_report(report)]
        found = [one for report in reports for one in _report_scores(report)]
        scores = found if reports else list(_printed_scores(source))
        if not scores:
            raise ReadError("no_scores", "The report holds no score.")
        return self.reading({"scores": scores, "scale": _scale(scores)})


def _scale(scores: list[dict[str, Any]]) -> str:
    """As printed where a sign tells, else by size."""
    signs = {score.pop("is_percent", False) for score in scores}
    return "percent" if signs == {True} else scale_of(scores)


def _reports(found: Any) -> list[Any]:
    if isinstance(found, dict) and isinstance(found.get("report_list"), list):
        return found["report_list"]
    return found if isinstance(found, list) else [found]


def _is_report(report: Any) -> bool:
    names = {"dataset_name", "model_name", "metrics"}
    return isinstance(report, dict) and names <= report.keys() and bool(report["metrics"])


def _report_scores(report: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """One score per metric; its subsets stand in ``categories``."""
    for metric in report["metrics"]:
        value = to_float(metric.get("score"))
        if value is not None:
            name = metric.get("name") or metric.get("identity", {}).get("name")
            yield {
                "task": report["dataset_name"],
                "metric": name,
                "filter": None,
                "model": report["model_name"],
                "value": value,
                "stderr": None,
                "samples": metric.get("num"),
            }


def _printed_scores(source: Source) -> Iterator[dict[str, Any]]:
    for table in framed_tables(source.lines(), least=6):
        names = [name.lower().removesuffix(" name") for name in table.header]
        for cells in table.rows if {"dataset", "metric", "score"} <= set(names) else ():
            row = dict(zip(names, cells, strict=True))
            text = row["score"]
            value = to_float(text.rstrip("% "))
            if value is not None:
                yield {
                    "task": row["dataset"],
                    "metric": row["metric"].replace(" ↑", "").replace(" ↓", ""),
                    "filter": row.get("subset"),
                    "model": row.get("model"),
                    "value": value,
                    "stderr": None,
                    "samples": to_float(row.get("num")),
                    "is_percent": text.endswith("%"),
                }
