"""From a frozen snapshot to the bytes of its PDF: no database, no clock."""

import itertools
import string
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, override

from delivery.documents.bilingual import in_language
from delivery.documents.branding.theme import frozen_theme, page_headers
from delivery.documents.chart_cache import drawn
from delivery.documents.pdf import css_string, render_pdf
from delivery.documents.tables.column_widths import column_widths, height, least_width
from delivery.documents.templatetags.document_tags import with_worded_days
from delivery.reports import registry
from delivery.reports.conclusion_sentences import (
    conclusion_sentence,
    improvements,
    waived_sentences,
)
from delivery.reports.decision_summary import cited_test_report, decision_summary
from delivery.reports.facts.snapshot import content_hash
from delivery.reports.original_language import with_originals_marked
from delivery.reports.registry import Section

TEMPLATE = "documents/document.html"
FOLDER = "documents/parts/"
GENERIC = {"words": "words.html", "table": "table.html", "figure": "figure.html"}
SIGNED = Section("signed", gettext_lazy("Signature page"), starts_page=True)
FIRST_DETAIL = "part:details"
FACTS_OF = {"manifest": "evidence"}  # what a wide template prints
PORTRAIT, LANDSCAPE = 170, 261  # mm between the margins (document.css)
FEW_ROWS = 8  # that a wide section prints upright
FEW_COLUMNS = 4  # of a table that never needs a wide page, however long it is
TIGHT = 1.03  # what tables may be short of: lengths are estimated on the safe side
UNBROKEN_MM = 70  # mm; a lower table stays on one page


def render_document(snapshot: dict, language: str, signed: dict | None = None, *,
                    is_withdrawn: bool = False) -> bytes:
    """The PDF of a snapshot in one language; the same snapshot gives the same bytes.

    Args:
        signed: decision, conditions, comments and signatures of the review; adds the signature
            page (see `delivery.acceptance.signing.signature_page`).
        is_withdrawn: mark every page as withdrawn.
    """
    context = context_of(snapshot, language, signed, is_withdrawn=is_withdrawn)
    return render_pdf(TEMPLATE, context, language)


def context_of(snapshot: dict, language: str, signed: dict | None = None, *,
               is_withdrawn: bool = False) -> dict[str, Any]:
    """What the template of documents shows; see `render_document`."""
    facts, digest = in_language(snapshot, language), content_hash(snapshot)
    kind = registry.get(facts["kind"])
    with override(language):
        facts = with_originals_marked(with_worded_days(facts))
        chapters = _chapters(facts, bool(signed))
        return {
            **facts, "theme": frozen_theme(facts), **_margins(facts, digest),
            **(_concluded(facts, chapters["places"]) if "conclusion" in facts else {}),
            "content_hash": digest,
            "has_front_pages": kind.has_front_pages, "is_brief": not kind.has_front_pages,
            "report": cited_test_report(facts),
            "signed": in_language(signed, language) if signed else None,
            "is_withdrawn": is_withdrawn, **chapters,
            "annex_file": annex_name(facts, language),
            "missing_deliverables": facts.get("missing_deliverables"),
            "delivered": sum(row["is_delivered"] for row in facts["references"]),
        }


def _concluded(facts: dict, places: dict[str, str]) -> dict[str, Any]:
    """What a document on verdicts says of them all."""
    return {"conclusion_sentence": conclusion_sentence(facts), "waived": waived_sentences(facts),
            "improvements": list(improvements(facts, places)),
            "decision": decision_summary(facts),
            "points_place": places.get("evaluation") or places.get("issues", ""),
            "judged_files": sum(bool(row["role"]) for row in facts.get("evidence", []))}


def annex_name(facts: dict, language: str) -> str:
    """The name of the annex file beside the document, see `DocumentFile.download_name`."""
    number = facts["number"] or f"{facts['kind']}-{facts['engagement']['code']}-draft"
    return f"{number}-V{facts['version']}.0-{language}.xlsx"


def _margins(facts: dict, digest: str) -> dict[str, str]:
    """Head and foot of every page as CSS strings: number, version, page x of y, content hash."""
    before, between, after = _("Page {page} of {pages}").replace("{pages}", "{page}").split(
        "{page}")
    number = facts["number"] or _("DRAFT")
    table_before, table_after = (_("Table %(n)s: %(title)s") % {"n": "{n}", "title": ""}).split(
        "{n}")
    words = {
        **page_headers(frozen_theme(facts), f"{facts['title']} · {facts['engagement']['name']}"),
        "page_foot": f"{number} V{facts['version']}.0 · SHA-256 {digest[:16]}…",
        "page_before": before, "page_between": between, "page_after": after,
        "table_before": table_before, "table_after": table_after,
        "practice_words": _("PRACTICE DATA – NOT EVIDENCE"),
    }
    return {key: css_string(value) for key, value in words.items()}


def _chapters(facts: dict, is_signed: bool) -> dict[str, Any]:
    """Numbered sections with their parts; figures and tables counted through the document."""
    kind, count = registry.get(facts["kind"]), {"table": 0, "figure": 0}
    annexes = [*kind.annexes, *([SIGNED] if is_signed else [])]
    numbers = itertools.count(1)
    numbered = [(str(next(numbers)) if section.is_numbered else "", section, False)
                for section in kind.sections_for(facts)]
    numbered += [(letter, section, True) for letter, section in
                 zip(string.ascii_uppercase, annexes, strict=False)]
    sections, metrics = [], []
    for number, declared, is_annex in numbered:
        section = as_wide_as_needed(declared, facts)
        if FIRST_DETAIL in section.all_parts:
            metrics = [_with_picture(row, facts["curves"], count) for row in facts["metrics"]]
        sections.append({
            "number": number, "id": section.id, "is_annex": is_annex,
            "title": str(section.title),
            "is_wide": section.is_wide, "starts_page": section.starts_page,
            "parts": [part for name in section.all_parts
                      if (part := _part(facts, name, count, section))]})
    places = {section["id"]: section["number"] for section in sections}
    return {"sections": sections, "places": places,
            "metrics": metrics or facts.get("metrics", [])}


def as_wide_as_needed(section: Section, facts: dict, room: float = PORTRAIT) -> Section:
    """The section, upright where none of its parts has rows that need a page of their own.

    A wide page ends the one before it wherever that stands; few rows do not justify it as long
    as their columns find room upright.

    Args:
        room: mm between the margins of an upright page.
    """
    is_filled = any(_filled(name, facts) for name in section.all_parts)
    is_wide = section.is_wide and is_filled and not _fits(section, facts, room)
    return replace(section, is_wide=is_wide)


def _fits(section: Section, facts: dict, room: float) -> bool:
    """Whether what the section lists finds room upright."""
    if section.all_parts == ("part:manifest",):
        return len(facts["evidence"]) <= FEW_ROWS
    tables = [facts["tables"][name[6:]] for name in section.all_parts
              if name.startswith("table:") and name[6:] in facts.get("tables", {})]
    rows = sum(len(entry["rows"]) for entry in tables if len(entry["columns"]) > FEW_COLUMNS)
    return bool(tables) and rows <= FEW_ROWS and all(
        least_width(entry) <= room * TIGHT for entry in tables)


def _filled(name: str, facts: dict) -> bool:
    sort, _colon, key = name.partition(":")
    return bool(facts.get("tables", {}).get(key, {}).get("rows") if sort == "table"
                else facts.get(FACTS_OF.get(key)))


def _part(facts: dict, name: str, count: dict, section: Section) -> dict | None:
    """What a part prints; None where the facts hold nothing of it."""
    sort, _colon, key = name.partition(":")
    if sort == "part":
        return {"template": f"{FOLDER}{key}.html"}
    if sort == "figures":
        return _figures(facts.get(key, []), count, section)
    entry = facts.get({"words": "words", "table": "tables", "figure": "figures"}[sort], {}).get(key)
    if entry is None or (sort == "words" and not entry["text"] and not _is_awaited(facts, key)):
        return None
    part = {**entry, "template": FOLDER + GENERIC[sort], "key": key,
            "is_alone": len(section.all_parts) == 1}
    if sort == "words":
        return {**part, "paragraphs": list(paragraphs(entry["text"]))}
    count[sort] += 1
    part["number"] = count[sort]
    if sort == "figure":
        part["picture"] = mark_safe(drawn(entry["spec"], entry["caption"]))
    else:
        total = LANDSCAPE if section.is_wide else PORTRAIT
        part["widths"] = column_widths(entry, total)
        part["is_kept"] = height(entry, part["widths"], total) < UNBROKEN_MM
        part["table_rows"] = list(_rows(entry))
    return part


def _is_awaited(facts: dict, code: str) -> bool:
    """Whether the draft still lacks this passage; its place is shown."""
    return facts["is_draft"] and any(block.is_required and block.code == code
                                     for block in registry.get(facts["kind"]).blocks_for(facts))


def _figures(entries: list[dict], count: dict, section: Section) -> dict | None:
    """A list of figures whose number is known only from the facts; None where there is none."""
    found = [_part({"figures": {entry["key"]: entry}}, f"figure:{entry['key']}", count, section)
             for entry in entries]
    return {"template": f"{FOLDER}figures.html", "figures": found} if found else None


def _rows(entry: dict) -> Iterator[list[dict]]:
    looks, above = [column["look"] for column in entry["columns"]], None
    for row in entry["rows"]:
        is_same = entry.get("is_grouped", False) and row[0] == above
        above = row[0]
        yield [{"look": look, "text": text, "is_same": is_same and n == 0}
               for n, (look, text) in enumerate(zip(looks, row, strict=True))]


def paragraphs(text: str) -> Iterator[dict]:
    """Paragraphs and lists: {"bullets"} for consecutive lines that begin with "- "."""
    items: list[str] = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("- "):
            items.append(line[2:].strip())
            continue
        if items:
            yield {"bullets": items}
            items = []
        if line.strip():
            yield {"text": line.strip()}


def _with_picture(metric: dict, curves: list[dict], count: dict) -> dict:
    spec = next((c["spec"] for c in curves if c["criterion"] == metric["criterion"]), None)
    if not spec:
        return {**metric, "picture": "", "figure_number": None}
    count["figure"] += 1
    title = f"{metric['model']} · {metric['name']}"
    return {**metric, "picture": mark_safe(drawn(spec, title)), "figure_number": count["figure"]}
