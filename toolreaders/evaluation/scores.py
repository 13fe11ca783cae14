"""Evaluation results: lm-eval, OpenCompass and what vllm-ascend's CI expects.

lm-eval scores are fractions (0..1), OpenCompass and AISBench per cent (0..100): ``scale`` says
which.
"""

from __future__ import annotations

import math
import re
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.tables import Table, framed_tables, plain_line, without_emphasis
from toolreaders.training.series import to_float

KIND = "evaluation"
GROUP = re.compile(r"-{2,}")  # "--- Exam ---" heads the tasks below it
NAMED = 3
FULL_PERCENT = 100
LIMIT = re.compile(r"\), (?:gen_kwargs: \(.*?\), )?limit: (?P<limit>[\d.]+|None), num_fewshot:")
Score = dict[str, Any]
UNBOUNDED = re.compile(
    r"perplexity|ppl|bits_per|likelihood|loss|length|_len|count|total|time|thresh|mse|mae|number",
    re.IGNORECASE,
)
SHARE = re.compile(
    r"acc|exact|(?:^|_)em(?:$|_)|f1|precision|recall|mcc|auc|iou|(?:^|_)m?ap(?:$|_|\d|@)|pass@",
    re.IGNORECASE,
)
"""Metrics that are fractions or per cent; BLEU or ROUGE beside them may go by another scale."""


def scale_of(scores: list[Score]) -> str:
    """percent where shares are above 1, points where they are above 100 (MME counts to 2800), else
    fraction; perplexities have no scale.

    Raises ReadError ``mixed_scales`` where some shares are above 1 and others are fractions.
    """
    bounded = [score for score in scores if not UNBOUNDED.search(score["metric"] or "")]
    shares = [score for score in bounded if SHARE.search(score["metric"] or "")] or bounded
    sizes = [abs(score["value"]) for score in shares if math.isfinite(score["value"])]
    above, below = [size for size in sizes if size > 1], [size for size in sizes if 0 < size < 1]
    if above and below:
        message = f"{min(above):g} and {max(below):g} stand side by side: per cent and fractions."
        raise ReadError("mixed_scales", message)
    if above and max(above) > FULL_PERCENT:
        return "points"
    return "percent" if above else "fraction"


def limited(limit: float | None) -> list[ReadingWarning]:
    """A warning where lm-eval scored a part of each task (``--limit``: samples, or a share)."""
    if not limit:
        return []
    message = f"Only a part of each task was scored (--limit {limit:g}): no result of the whole."
    return [ReadingWarning("limited_samples", message)]


@register
class LmEvalJsonReader(Reader):
    """``results_<time>.json``: ``results[task]["metric,filter"]`` and ``…_stderr,filter``;
    0.3 and earlier have no filter."""

    name = "lm_eval_json"
    kind = KIND
    tool = "lm-eval"

    def recognises(self, sample: Sample) -> int:
        if '"results"' not in sample.text[:4000]:
            return 0
        report = sample.json
        if not isinstance(report, dict) or not isinstance(report.get("results"), dict):
            return 0
        rows = [row for row in report["results"].values() if isinstance(row, dict)]
        is_old = "versions" in report and any(f"{k}_stderr" in row for row in rows for k in row)
        return 92 if is_old or any("," in key for row in rows for key in row) else 0

    def read(self, source: Source) -> Reading:
        report = source.json
        scores = [score for task, row in report["results"].items() for score in _scores(task, row)]
        if not scores:
            raise ReadError("no_scores", "The report holds no score.")
        samples = {
            task: counts.get("effective")
            for task, counts in report.get("n-samples", {}).items()
            if isinstance(counts, dict)
        }
        values = {
            "scores": scores,
            "scale": "fraction",
            "samples": samples,
            "n_shot": report.get("n-shot"),
            "model": report.get("model_name"),
            "limit": report.get("config", {}).get("limit"),
        }
        return self.reading(values, warnings=limited(to_float(values["limit"])),
                            tool_version=report.get("lm_eval_version"))


def _scores(task: str, row: dict[str, Any]) -> list[Score]:
    found = []
    filtered = [key for key in row if "," in key]
    for key, value in row.items():
        metric, comma, kind = key.partition(",")
        number = to_float(value)
        is_note = bool(filtered) != bool(comma)  # sample_len stands beside acc,none
        if is_note or metric.endswith("_stderr") or isinstance(value, str) or number is None:
            continue
        stderr = to_float(row.get(f"{metric}_stderr{comma}{kind}"))
        found.append(
            {"task": task, "metric": metric, "filter": kind or None, "value": number,
             "stderr": stderr}
        )
    return found


@register
class LmEvalConsoleReader(Reader):
    """The markdown table lm-eval prints; a task's name stands on its first row only."""

    name = "lm_eval_console"
    kind = KIND
    version = "4"
    tool = "lm-eval"
    header = re.compile(
        r"\|\s*(?:Tasks|Groups)\s*\|\s*Version\s*\|\s*Filter|"
        r"\|\s*Tasks?\s*\|\s*(?:Version\s*\|\s*Metric|Filter\s*\|\s*n-shot\s*\|\s*Metric)\s*\|\s*Value"
    )

    def recognises(self, sample: Sample) -> int:
        return 90 if self.header.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        scores: list[Score] = []
        for table in framed_tables(source.lines()):
            if table.header[0] in ("Tasks", "Task", "Groups"):
                scores += _console_scores(table)
        if not scores:
            raise ReadError("no_scores", "The table of results is empty.")
        scores = without_repeats(scores)
        found = [to_float(hit["limit"]) for _number, line in source.lines()
                 if (hit := LIMIT.search(line))]
        limit = next(filter(None, found), None)
        return self.reading({"scores": scores, "scale": scale_of(scores), "limit": limit},
                            warnings=limited(limit))


def without_repeats(scores: list[Score]) -> list[Score]:
    """Each score once: groups stand in both tables, OpenCompass prints a table twice."""
    names = ("task", "metric", "filter", "model")
    return list({tuple(score.get(name) for name in names): score for score in scores}.values())


def _signed(cell: str) -> float | None:
    """A number; reports put lm-eval's arrow and its “±” into the cell."""
    return to_float(without_emphasis(cell.strip("↑↓± ")))


def _console_scores(table: Table) -> list[Score]:
    at = {name: table.header.index(name) for name in ("Metric", "Value")}
    filter_at = table.header.index("Filter") if "Filter" in table.header else None
    error_at = table.header.index("Stderr") if "Stderr" in table.header else None
    task, scores = "", []
    for row in table.rows:
        task = row[0].lstrip("- ") or task
        value = _signed(row[at["Value"]])
        if value is not None:
            scores.append(
                {
                    "task": task,
                    "metric": row[at["Metric"]],
                    "filter": row[filter_at] if filter_at else None,
                    "value": value,
                    "stderr": _signed(row[error_at]) if error_at else None,
                }
            )
    return scores


@register
class OpenCompassReader(Reader):
    """OpenCompass and AISBench summary: ``dataset | version | metric | mode | model…``."""

    name = "opencompass_summary"
    kind = KIND
    tool = "OpenCompass"
    header = re.compile(
        r"^\W*dataset\s*[|,│\s]\s*version\s*[|,│\s]\s*metric\s*[|,│\s]\s*mode", re.M
    )

    def recognises(self, sample: Sample) -> int:
        return 90 if self.header.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        scores: list[Score] = []
        missing: list[str] = []
        for row, models in _opencompass_rows(source):
            for model, cell in zip(models, row[4:], strict=False):
                value = to_float(cell)
                if value is not None:
                    name = {"task": row[0], "metric": row[2], "filter": row[3], "model": model}
                    scores.append({**name, "value": value, "stderr": None})
                elif not GROUP.match(row[0]):
                    missing.append(f"{row[0]} of {model}")
        if not scores:
            raise ReadError("no_scores", "The summary holds no score.")
        values = {"scores": without_repeats(scores), "scale": "percent"}
        return self.reading(values, warnings=_without_score(missing))


def _without_score(missing: list[str]) -> list[ReadingWarning]:
    if not missing:
        return []
    named, more = ", ".join(missing[:NAMED]), len(missing) - NAMED
    others = f" and {more} more" if more > 0 else ""
    return [ReadingWarning("value_missing", f"No score is printed for {named}{others}.")]


def _opencompass_rows(source: Source) -> list[tuple[list[str], list[str]]]:
    for table in framed_tables(source.lines(), least=5):
        if table.header[0] == "dataset":
            return [(row, table.header[4:]) for row in table.rows]
    rows: list[tuple[list[str], list[str]]] = []
    models: list[str] = []
    for _number, line in source.lines():
        cells = [cell.strip() for cell in re.split(r",|\s{2,}", plain_line(line))]
        if cells[:4] == ["dataset", "version", "metric", "mode"]:
            models = cells[4:]
        elif models and len(cells) == 4 + len(models):
            rows.append((cells, models))
    return rows


@register
class ExpectedAccuracyReader(Reader):
    """vllm-ascend CI configuration: the accuracy a model is expected to reach."""

    name = "vllm_ascend_expected_accuracy"
    kind = KIND
    tool = "vllm-ascend"
    model = re.compile(r'^model_name:\s*"?([^"\n]+)"?', re.MULTILINE)
    item = re.compile(r'^\s*(?:- )?(name|value|threshold):\s*"?([^"\n#]+?)"?\s*(?:#.*)?$')

    def recognises(self, sample: Sample) -> int:
        if self.model.search(sample.text) and re.search(r"^tasks:", sample.text, re.MULTILINE):
            return 85
        return 0

    def read(self, source: Source) -> Reading:
        task, metric, scores = None, None, []
        in_tasks = in_metrics = False
        for _number, line in source.lines():
            if line.startswith("tasks:"):
                in_tasks = True
            elif in_tasks and line and not line.startswith((" ", "-")):
                in_tasks = False
            elif in_tasks and line.strip() == "metrics:":
                in_metrics = True
            elif in_tasks and (found := self.item.match(line)):
                if found[1] == "name" and line.lstrip() == line:
                    task, in_metrics = found[2], False
                elif found[1] == "name" and not in_metrics:
                    task = found[2]
                elif found[1] == "name":
                    metric = found[2]
                elif found[1] == "value" and metric:
                    name, _comma, kind = metric.partition(",")
                    value = {"value": float(found[2]), "stderr": None}
                    scores.append({"task": task, "metric": name, "filter": kind, **value})
        if not scores:
            raise ReadError("no_scores", "The configuration expects no score.")
        model = self.model.search(source.text)
        values = {"scores": scores, "scale": scale_of(scores), "expected": True}
        message = "These are expected scores of a CI configuration, not measured ones."
        warnings = [ReadingWarning("expected_not_measured", message)]
        return self.reading({**values, "model": model[1] if model else None}, warnings=warnings)
