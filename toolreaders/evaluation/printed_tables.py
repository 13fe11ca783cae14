"""Evaluation results of Hugging Face examples and comparison tables of READMEs.

Differences are given in points and relative, because a threshold has to say which it means.
"""

from __future__ import annotations

import re
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.evaluation.scores import KIND, scale_of
from toolreaders.source import ReadError
from toolreaders.tables import Table, framed_tables, plain_line
from toolreaders.training.series import to_float

METRIC_LINE = re.compile(
    r"^(?:\S.*?(?:\]|:tensorflow:| -)\s+)?\s*"  # what a logger prints before it
    r"((?:eval|test|predict)_\w+|acc\w*|f1\w*|mcc|epoch)\s*= +(\S+)\s*$"
)
SCORE = re.compile(
    r"acc|f1|loss|precision|recall|mcc|corr|bleu|rouge|exact|score|auc|iou|perplexity|wer|cer|map"
)
HEADING = re.compile(r"\*{3,} *(?:eval|test|predict)\w*\b.*\*{3,}\s*$", re.MULTILINE | re.I)


@register
class HfEvalTextReader(Reader):
    """``***** eval metrics *****`` block or ``eval_results.txt`` of HF examples."""

    name = "hf_eval_text"
    kind = KIND
    version = "3"
    tool = "transformers Trainer"

    def recognises(self, sample: Sample) -> int:
        lines = [line for line in sample.lines if line.strip()]
        found = [match for line in lines if (match := METRIC_LINE.match(plain_line(line)))]
        numbers = [match[1] for match in found if to_float(match[2]) is not None]
        if not any(map(SCORE.search, numbers)):
            return 0
        if 2 * len(numbers) >= len(lines):
            return 40
        # Such a block at the end of a training log does not make the log an evaluation.
        return 11 if HEADING.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        metrics: dict[str, float] = {}
        for _number, line in source.lines():
            if found := METRIC_LINE.match(plain_line(line)):
                number = to_float(found[2])
                if number is not None:
                    metrics[found[1]] = number
        return self.reading(_hf_values(metrics))


@register
class HfEvalJsonReader(Reader):
    """``eval_results.json`` and ``all_results.json``: one flat object."""

    name = "hf_eval_json"
    kind = KIND
    version = "2"
    tool = "transformers Trainer"

    def recognises(self, sample: Sample) -> int:
        if not re.search(r'"(?:eval|train|predict)_\w+"', sample.text[:8000]):
            return 0
        result = sample.json
        if not isinstance(result, dict) or any(isinstance(v, dict | list) for v in result.values()):
            return 0
        return 80 if any(re.match(r"(?:eval|train|predict)_", key) for key in result) else 0

    def read(self, source: Source) -> Reading:
        numbers = {key: to_float(value) for key, value in source.json.items()}
        metrics = {key: value for key, value in numbers.items() if value is not None}
        return self.reading(_hf_values(metrics))


NOT_A_SCORE = re.compile(
    r"runtime|per_second|samples$|steps$|flos|epoch|^train_|loss$|total$|_len$|_thresh$|_mem_|"
    r"time$|count$"
)


def _hf_values(metrics: dict[str, float]) -> dict[str, Any]:
    if not metrics:
        raise ReadError("no_scores", "The file holds no number.")
    scores = [
        {"task": None, "metric": key.removeprefix("eval_"), "value": value}
        for key, value in metrics.items()
        if not NOT_A_SCORE.search(key)
    ]
    return {"scores": scores, "scale": scale_of(scores) if scores else None, "metrics": metrics}


BASELINE = re.compile(
    r"gpu|基线|baseline|竞品|a100|v100|h100|a800|官方|reference|论文", re.IGNORECASE
)
CANDIDATE = re.compile(r"npu|昇腾|ascend|910|atlas", re.IGNORECASE)
SUBJECT = re.compile(r"dataset|task|benchmark|数据集|任务|评测|测试集", re.IGNORECASE)


@register
class ComparisonTableReader(Reader):
    """A README table that sets NPU scores beside GPU or published ones."""

    name = "evaluation_comparison"
    kind = KIND
    in_documents = True

    def recognises(self, sample: Sample) -> int:
        if "|" not in sample.text or len(sample.data) > 200_000 or sample.json is not None:
            return 0
        tables = framed_tables(enumerate(sample.lines, 1), least=3)
        return 60 if any(_columns(table) and _comparisons(table) for table in tables) else 0

    def read(self, source: Source) -> Reading:
        tables = [t for t in framed_tables(source.lines(), least=3) if _columns(t)]
        comparisons = [one for table in tables for one in _comparisons(table)]
        if not comparisons:
            raise ReadError("no_scores", "The table holds no pair of scores.")
        largest = max(abs(c[key]) for c in comparisons for key in ("baseline", "candidate"))
        values = {"comparisons": comparisons, "scale": "percent" if largest > 1 else "fraction"}
        return self.reading(values)


def _columns(table: Table) -> tuple[int, int] | None:
    if not SUBJECT.search(table.header[0]) or not table.rows:
        return None
    base = [i for i, cell in enumerate(table.header[1:], 1) if BASELINE.search(cell)]
    ours = [i for i, cell in enumerate(table.header[1:], 1) if CANDIDATE.search(cell)]
    return (base[0], ours[0]) if base and ours and base[0] != ours[0] else None


def _comparisons(table: Table) -> list[dict[str, Any]]:
    base_at, ours_at = _columns(table) or (0, 0)
    found = []
    for row in table.rows:
        base = to_float(row[base_at].rstrip("% "))
        ours = to_float(row[ours_at].strip("*").rstrip("% "))
        if base is not None and ours is not None:
            relative = (ours - base) / base if base else None
            found.append(
                {
                    "task": row[0],
                    "baseline": base,
                    "candidate": ours,
                    "difference": ours - base,
                    "relative": relative,
                }
            )
    return found
