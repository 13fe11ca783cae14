"""Result files of conversion and tuning: fusion_result.json, AOE, quantisation descriptions."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from workers.readers.base import Reader, Reading, Sample, Source, register
from workers.readers.source import ReadError, ReadingWarning

FUSIONS = ("graph_fusion", "ub_fusion")
BASELINE = "model_baseline_performance(ms)"
RESULT = "model_result_performance(ms)"
QUANT_TYPE = "model_quant_type"
LISTED = 200
AOE_FINISHED = "Aoe process finished"
AOE_END = re.compile(r"Aoe process (?:finished|failed)")


@register
class FusionResultReader(Reader):
    """``fusion_result.json`` of ATC: one or several JSON documents in a row, or a list of them."""

    name = "atc_fusion_result"
    kind = "conversion_log"
    tool = "atc"

    def recognises(self, sample: Sample) -> int:
        start = sample.text[:4096].lstrip("\ufeff \t\r\n")
        if start[:1] not in ("{", "["):
            return 0
        named = any(f'"{name}"' in sample.text for name in FUSIONS)
        return 90 if named and '"effect_times"' in sample.text else 0

    def read(self, source: Source) -> Reading:
        documents, rest = _documents(source.text)
        fusions = [_fusions(document) for document in documents]
        if not fusions:
            raise ReadError("damaged_json", "No complete JSON document with fusion results.")
        passes: Counter[str] = Counter()
        matches = 0
        for fusion in fusions:
            for name, effect, match in fusion:
                passes[name] += effect
                matches += match
        values = {
            "form": "fusion_result",
            "documents": len(documents),
            "sessions": [document.get("session_and_graph_id") for document in documents][:LISTED],
            "effect_times": sum(passes.values()),
            "match_times": matches,
            "passes": dict(passes.most_common()),
        }
        warnings = []
        if len(documents) > 1:
            message = f"The file holds {len(documents)} JSON documents in a row; all are counted."
            warnings.append(ReadingWarning("several_documents", message))
        if rest:
            message = "The last JSON document is cut off and left out."
            warnings.append(ReadingWarning("truncated_record", message))
        return self.reading(values, warnings=warnings)


def _documents(content: str) -> tuple[list[dict[str, Any]], str]:
    """Every JSON object of the text, lists flattened, and what is left unread."""
    decoder = json.JSONDecoder()
    found: list[dict[str, Any]] = []
    at = 0
    while (at := _next(content, at)) < len(content):
        try:
            value, at = decoder.raw_decode(content, at)
        except (ValueError, RecursionError):
            return found, content[at:]
        found += [item for item in (value if isinstance(value, list) else [value])
                  if isinstance(item, dict)]  # fmt: skip
    return found, ""


def _next(content: str, at: int) -> int:
    while at < len(content) and content[at] in " \t\r\n,\ufeff":
        at += 1
    return at


def _fusions(document: dict[str, Any]) -> list[tuple[str, int, int]]:
    """(pass, effect times, match times); the tool writes its numbers as text."""
    return [
        (name, int(item.get("effect_times", 0)), int(item.get("match_times", 0)))
        for kind in FUSIONS
        for name, item in (document.get(kind) or {}).items()
    ]


@register
class AoeResultReader(Reader):
    """``aoe_result_*.json``: performance in ms before and after tuning."""

    name = "aoe_result"
    more_keys = ("tuning", "succeeded", "result", "baseline_ms", "result_ms", "improvement",
                 "improvement_printed", "operators", "repository")  # fmt: skip
    kind = "performance_tuning"
    tool = "aoe"

    def recognises(self, sample: Sample) -> int:
        return 95 if any(BASELINE in block for _name, block in _blocks(sample.json)) else 0

    def read(self, source: Source) -> Reading:
        blocks = [(name, block) for name, block in _blocks(source.json) if BASELINE in block]
        tunings = [_tuning(name, block) for name, block in blocks]
        first = tunings[0]
        values = {"form": "aoe_result", **first, "tunings": tunings}
        warnings = []
        if first["succeeded"] is not True:
            message = f"The tuning ended with {first['result']!r}."
            warnings.append(ReadingWarning("tuning_not_successful", message))
        if first["improvement"] is not None and first["improvement"] <= 0:
            warnings.append(ReadingWarning("no_improvement", "The tuning brought no improvement."))
        return self.reading(values, warnings=warnings)


def _blocks(found: Any) -> list[tuple[str, dict[str, Any]]]:
    documents = found if isinstance(found, list) else [found]
    return [
        (str(name), block)
        for document in documents
        if isinstance(document, dict)
        for name, block in document.items()
        if isinstance(block, dict)
    ]


def _tuning(name: str, block: dict[str, Any]) -> dict[str, Any]:
    baseline, result = _ms(block.get(BASELINE)), _ms(block.get(RESULT))
    stated = next((v for key, v in block.items() if key.endswith("tuning_result")), None)
    summary = block.get("repo_summary") or {}
    return {
        "tuning": name,
        "baseline_ms": baseline,
        "result_ms": result,
        # a share of the baseline; the tool prints it rounded as model_performance_improvement
        "improvement": (baseline - result) / baseline if baseline and result is not None else None,
        "improvement_printed": block.get("model_performance_improvement"),
        "result": stated,
        "succeeded": "success" in str(stated).lower() if stated is not None else None,
        "operators": summary.get("total_num"),
        "repository": {key: item for key, item in summary.items() if key.endswith("_num")},
    }


def _ms(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


@register
class AoeLogReader(Reader):
    """stdout of aoe; only a run that came to its end says "Aoe process finished"."""

    name = "aoe_log"
    kind = "performance_tuning"
    tool = "aoe"

    def recognises(self, sample: Sample) -> int:
        return 85 if AOE_END.search(sample.text) else 0

    def read(self, source: Source) -> Reading:
        lines = [line.strip() for _number, line in source.lines() if line.strip()]
        errors = [line for line in lines if "[ERROR]" in line or "fail" in line.lower()]
        is_finished = any(AOE_FINISHED in line for line in lines)
        values = {"form": "aoe_log", "succeeded": is_finished and not errors,
                  "errors": errors[:LISTED]}
        return self.reading(values)


@register
class QuantDescriptionReader(Reader):
    """``quant_model_description.json`` of msmodelslim: what was produced, weight by weight.

    The tool may silently fall back to another scheme: what was asked for is not in this file.
    """

    name = "msmodelslim_description"
    kind = "quantization"
    version = "2"
    tool = "msmodelslim"

    def recognises(self, sample: Sample) -> int:
        found = sample.json
        return 95 if isinstance(found, dict) and QUANT_TYPE in found else 0

    def read(self, source: Source) -> Reading:
        found = source.json
        weights = {
            name: item for name, item in found.items() if isinstance(item, str) and "." in name
        }
        schemes = Counter(weights.values())
        quantised = sum(count for scheme, count in schemes.items() if scheme != "FLOAT")
        values = {
            "form": "quant_description",
            "quant_type": found[QUANT_TYPE],
            "keys": len(found),
            "weights": len(weights),
            "schemes": dict(schemes),
            "quantised": quantised,
            "format_version": found.get("version"),
            "group_size": found.get("group_size"),
        }
        warnings = []
        if found[QUANT_TYPE] not in schemes:
            message = f"No weight has the stated scheme {found[QUANT_TYPE]}."
            warnings.append(ReadingWarning("scheme_not_used", message))
        if len(set(schemes) - {"FLOAT"}) > 1:
            mixed = ", ".join(sorted(set(schemes) - {"FLOAT"}))
            warnings.append(ReadingWarning("mixed_schemes", f"Weights have schemes {mixed}."))
        return self.reading(values, warnings=warnings)
