"""msprobe config_check: ``result.xlsx`` of two packs, the packs themselves, verl's tables.

Formats: Ascend/msprobe 26.2.0 and 8.3.3. Missing is not passed: a sheet that is not there was not
compared. Values that look secret are masked before they leave this module.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.masking import is_secret_name, mask_text, mask_value
from toolreaders.source import ReadError, ReadingWarning
from toolreaders.xlsx import Row, Workbook, text, workbook_of

SUMMARY = ("filename", "pass_check")
PARTS = ("env", "pip", "hyperparameters", "dataset", "weights", "random")
NPU_NAMES = re.compile(r"HCCL|ASCEND|NPU|ACL_|TASK_QUEUE")
GPU_NAMES = re.compile(r"NCCL|CUDA|CUBLAS|NVTE|TORCH_CUDNN")
ONLY_ONE = re.compile(r"^only (?:bench|cmp) has|^only in (?:comparison|benchmark)", re.IGNORECASE)
FINDING = ("level", "sheet", "item", "bench", "npu")
RELATIVE = ("max", "min", "mean", "norm")
Difference = dict[str, Any]


@register
class ConfigCheckReader(Reader):
    """``result.xlsx``: sheet summary and one sheet for each thing both packs hold."""

    name = "msprobe_config_check"
    kind = "config_check"
    version = "2"
    tool = "msprobe"

    def recognises(self, sample: Sample) -> int:
        book = workbook_of(sample.source)
        if book is None or "summary" not in book.headers:
            return 0
        return 95 if set(SUMMARY) <= {text(cell) for cell in book.headers["summary"]} else 0

    def read(self, source: Source) -> Reading:
        book = workbook_of(source)
        if book is None:
            raise ReadError("damaged_xlsx", "The workbook cannot be opened.")
        listed = list(_records(book, "summary"))
        summary = {row["filename"]: row["pass_check"].lower() for row in listed}
        sheets: dict[str, Any] = {}
        differences: list[Difference] = []
        warnings: list[ReadingWarning] = []
        for name in book.sheet_names:
            if name == "summary":
                continue
            records = list(_records(book, name))
            if name == "env":
                records = list(_env_in_order(records, warnings))
            found = [item for record in records if (item := _difference(name, record))]
            differences += found
            sheets[name] = _sheet(book.headers[name], records, found)
        warnings += _warnings(summary, sheets)
        values = {
            "form": "result",
            "sheets": sheets,
            "summary": summary,
            "lines": {row["filename"]: at for at, row in enumerate(listed, start=2)},
            "differences": differences,
            "findings": findings_of(differences),
            "counts": _counts(differences, sheets),
            "passed": _passed(summary, differences),
            "not_compared": [part for part in PARTS if part not in sheets],
        }
        return self.reading(values, warnings=warnings)


def _records(book: Workbook, name: str) -> Iterator[dict[str, str]]:
    rows = book.rows(name)
    header = [text(cell) for cell in next(rows, ())]
    for row in rows:
        cells = [text(cell) for cell in row]
        if any(cells):
            yield {name: cells[at] if at < len(cells) else "" for at, name in enumerate(header)}


def _env_in_order(
    records: list[dict[str, str]], warnings: list[ReadingWarning]
) -> Iterator[dict[str, str]]:
    """Sheet env with bench and cmp where they belong.

    8.3.3 and 26.2.0 print them exchanged (arguments reversed in the tool). A sheet whose names
    already say bench = CUDA/NCCL and cmp = ASCEND/HCCL is left as it is.
    """
    bench = " ".join(record.get("bench_env_name", "") for record in records)
    cmp = " ".join(record.get("cmp_env_name", "") for record in records)
    right_as_printed = bool(GPU_NAMES.search(bench) and NPU_NAMES.search(cmp))
    if right_as_printed and not (NPU_NAMES.search(bench) or GPU_NAMES.search(cmp)):
        yield from records
        return
    if records:
        message = "Sheet env has its bench and cmp columns exchanged; they were put right."
        warnings.append(ReadingWarning("env_columns_exchanged", message))
    for record in records:
        yield {
            "bench_env_name": record.get("cmp_env_name", ""),
            "cmp_env_name": record.get("bench_env_name", ""),
            "bench_value": record.get("cmp_value", ""),
            "cmp_value": record.get("bench_value", ""),
            "level": record.get("level", ""),
        }


def findings_of(differences: list[Difference]) -> list[dict[str, Any]]:
    """What documents and the sentence of a job name: every difference, errors first."""
    found = [{name: item.get(name) for name in FINDING} for item in differences]
    return sorted(found, key=lambda item: item["level"] != "error")


def _difference(sheet: str, record: dict[str, str]) -> Difference | None:
    if "equal" in record:
        return _tensor_difference(sheet, record)
    if "check_result" in record:
        return _random_difference(sheet, record)
    return _setting_difference(sheet, record)


def _setting_difference(sheet: str, record: dict[str, str]) -> Difference:
    """A row of env, pip or hyperparameters: every row printed there is a difference."""
    prefix = "env_name" if "cmp_env_name" in record else "para"
    npu_name = _own_name(record.get(f"cmp_{prefix}", record.get("package", "")))
    bench_name = _own_name(record.get(f"bench_{prefix}", record.get("package", "")))
    item = npu_name or bench_name
    secret = is_secret_name(npu_name) or is_secret_name(bench_name)
    npu = record.get("cmp_value", record.get("cmp version", ""))
    bench = record.get("bench_value", record.get("bench version", ""))
    if sheet == "hyperparameters" and _is_figure(npu) and _is_figure(bench):
        secret = False
    return {
        "sheet": sheet,
        "item": mask_text(item),
        "npu": _shown("secret" if secret else "", npu if npu_name else ""),
        "bench": _shown("secret" if secret else "", bench if bench_name else ""),
        "level": record.get("level", "").lower() or "error",
        "npu_name": npu_name or None,
        "bench_name": bench_name or None,
    }


def _is_figure(value: str) -> bool:
    return not value or bool(re.fullmatch(r"[-+]?[\d.]+(?:[eE][-+]?\d+)?|True|False", value))


def _own_name(name: str) -> str:
    return "" if ONLY_ONE.match(name) or name in ("None", "NA") else name


def _shown(name: str, value: str) -> str | None:
    return mask_value(name, value) if value not in ("", "None") else None


def _tensor_difference(sheet: str, record: dict[str, str]) -> Difference | None:
    """Data or weights: their statistics differ. Relative differences are signed fractions."""
    if record["equal"].lower() == "true":
        return None
    name = record.get("tag") or record.get("weight_name", "")
    return {
        "sheet": sheet,
        "item": f"step {record.get('step')} rank {record.get('rank')} {name}",
        "npu": None,
        "bench": None,
        "level": "error",
        "relative_diff": {key: _figure(record.get(f"{key}_relative_diff", "")) for key in RELATIVE},
    }


def _figure(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def _random_difference(sheet: str, record: dict[str, str]) -> Difference | None:
    if record["check_result"].lower() == "true":
        return None
    return {
        "sheet": sheet,
        "item": f"rank {record.get('rank')} {record.get('op')}",
        "npu": mask_text(f"{record.get('cmp_count')} × {record.get('cmp_stack')}"),
        "bench": mask_text(f"{record.get('bench_count')} × {record.get('bench_stack')}"),
        "level": "error",
    }


def _sheet(header: Row, records: list[Any], found: list[Difference]) -> dict[str, Any]:
    return {
        "columns": [text(cell) for cell in header],
        "rows": len(records),
        "different": len(found),
        "levels": dict(Counter(item["level"] for item in found)),
    }


def _counts(differences: list[Difference], sheets: dict[str, Any]) -> dict[str, Any]:
    levels = Counter(item["level"] for item in differences)
    return {
        "differences": len(differences),
        "error": levels["error"],
        "warning": levels["warning"],
        "by_sheet": {name: sheet["different"] for name, sheet in sheets.items()},
    }


def _passed(summary: dict[str, str], differences: list[Difference]) -> bool:
    levels = {item["level"] for item in differences} | set(summary.values())
    return bool(summary) and "error" not in levels


def _warnings(summary: dict[str, str], sheets: dict[str, Any]) -> Iterator[ReadingWarning]:
    missing = [part for part in PARTS if part not in sheets]
    if missing:
        message = f"Not packed and so not compared: {', '.join(missing)}."
        yield ReadingWarning("not_compared", message)
    for name, verdict in summary.items():
        if verdict == "pass" and sheets.get(name, {}).get("different"):
            message = f"The summary passes {name} although it has differences."
            yield ReadingWarning("summary_contradicts_sheet", message)
    if summary.get("random") == "pass":
        message = "Sheet random compares call stacks and counts, never the seeds."
        yield ReadingWarning("seeds_not_compared", message)
