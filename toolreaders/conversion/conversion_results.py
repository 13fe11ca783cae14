"""Result files of conversions: fusion_result.json, quantisation descriptions."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from toolreaders.base import Reader, Reading, Sample, Source, register
from toolreaders.source import ReadError, ReadingWarning

FUSIONS = ("graph_fusion", "ub_fusion")
QUANT_TYPE = "model_quant_type"
LISTED = 200


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
