"""The index of an evidence bundle: one HTML page per language that needs nothing but itself."""

import re
from collections import Counter

from django.template.loader import render_to_string
from django.utils.safestring import mark_safe
from django.utils.translation import override

from bundle_verifier.archive import SIGNATURE
from bundle_verifier.bundle_format import raw_name
from bundle_verifier.signatures.certificates import CertificateFacts
from delivery.documents.bilingual import in_language
from delivery.documents.chart_cache import drawn
from delivery.reports.models import Document


def index_page(document: Document, language: str, signed: dict | None, held_back: list[dict],
               signer: CertificateFacts | None) -> str:
    """HTML with styles and curves inside; links lead to the bundle's own files only.

    Args:
        signed: facts of the review, if it is decided.
        held_back: rows of the manifest whose raw files are not in the bundle.
        signer: whose signature over SHA256SUMS the bundle bears, if any.
    """
    facts = in_language(document.snapshot, language)
    away = {row["id"] for row in held_back}
    rows = [{**row, "is_withheld": row["id"] in away,
             "path": raw_name(row["name"], row["sha256"])} for row in facts["evidence"]]
    by_id = {row["id"]: row for row in rows}
    tally = Counter((row["outcome"], row["outcome_label"]) for row in facts["metrics"])
    with override(language):
        return render_to_string("delivery/evidence/bundle_index.html", {
            "facts": facts, "content_hash": document.content_hash, "language": language,
            "html_lang": "en" if language == "en" else "zh-CN", "evidence": rows,
            "metrics": [_metric(row, facts["curves"], by_id) for row in facts["metrics"]],
            "documents": list(document.files.all()), "withheld": len(away),
            "tally": [(*outcome, n) for outcome, n in tally.items()],
            "snapshot": f"snapshots/{document.number}-V{document.version}.json",
            "signed": in_language(signed, language) if signed else None,
            "signer": signer, "signature": SIGNATURE})


def _metric(metric: dict, curves: list[dict], files: dict[int, dict]) -> dict:
    spec = next((c["spec"] for c in curves if c["criterion"] == metric["criterion"]), None)
    picture = drawn(spec, f"{metric['model']} · {metric['name']}") if spec else ""
    return {**metric, "picture": mark_safe(_renamed(picture, f"c{metric['criterion']}")),
            "reference": files.get(metric["baseline_artifact"]),
            "measured_file": files.get(metric["artifact"])}


def _renamed(svg: str, prefix: str) -> str:
    """Ids of our own: vl-convert 1.9 counts clip paths on from picture to picture."""
    names = dict.fromkeys(re.findall(r'id="([^"]+)"', svg))
    for n, name in enumerate(names):
        svg = svg.replace(f'id="{name}"', f'id="{prefix}-{n}"').replace(
            f"url(#{name})", f"url(#{prefix}-{n})")
    return svg
