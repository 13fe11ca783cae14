"""What the templates of documents share."""

import re
from urllib.parse import quote
from xml.sax.saxutils import escape

from django import template
from django.db.models import Model
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from bundle_verifier.bundle_format import raw_name
from delivery.documents.models import FailedFile
from engagements.text.text_joining import listed

register = template.Library()

WIDTH, HEIGHT, TILT = 760, 520, -32  # of the mark's picture, and its slope in degrees
DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})(.*)")
REFERENCE = re.compile(r"(?<![\w&;])(E|#)(\d+)\b(?!;)")  # raw file or run; no character entity
LARGEST = 110  # size of the letters; long marks are set smaller


@register.inclusion_tag("components/failed_files.html")
def failed_files(row: Model) -> dict:
    """What could not be made of the files of an issued row, with the cause."""
    return {"failed": FailedFile.objects.of(row)}


@register.filter
def by_run(rows: list[dict]) -> list[dict]:
    """Rows of the evidence manifest, those of one run together: {"run": first row, "rows"}.

    Files without a run come first, each with who brought it and when.
    """
    found: dict[tuple, list[dict]] = {}
    for row in sorted(rows, key=lambda row: (row["job"] or 0, row["id"])):
        one = row["job"] or (row["model"], row["who"], row["when"])
        found.setdefault((one,), []).append(row)
    return [{"run": group[0], "rows": group} for group in found.values()]


@register.filter
def in_use(rows: list[dict]) -> list[dict]:
    """Raw files that verdicts rest on, or that a laboratory brought."""
    return [row for row in rows if row["role"]]


@register.filter
def receipt_of(receipts: list[dict], sha256: str) -> dict | None:
    """The newest receipt of what has this checksum."""
    return next((row for row in reversed(receipts) if row["sha256"] == sha256), None)


@register.filter
def grouped_by_message(rows: list[dict]) -> list[dict]:
    """Deviations with the same subject and remark as one, with the codes of their models."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        found.setdefault((row["name"], row["message"]), []).append(row["model"])
    return [{"name": name, "message": message, "models": list(dict.fromkeys(models))}
            for (name, message), models in found.items()]


@register.filter
def worth_print(runs: list[dict]) -> list[dict]:
    """Runs that are judged, and those that did not succeed."""
    return [run for run in runs if run["is_judged"] or run["state"] != "succeeded"]


@register.filter
def spans(numbers: list[int]) -> str:
    """Numbers as spans: 0, 1, 2, 3, 6 as "0–3, 6"."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and parts[-1][-1] == number - 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{p[0]}–{p[-1]}" if len(p) > 1 else str(p[0]) for p in parts)


@register.simple_tag(takes_context=True)
def linked_text(context, text: str) -> SafeString:
    """Text of a table's cell: raw files (E12) and runs (#34) of the document lead to their pages.

    Only numbers that the document lists: E40021 may be an error code. Lines stay lines.
    """
    portal, known = context.get("portal_url"), {
        "E": ("artifacts", context.get("evidence")), "#": ("jobs", context.get("runs"))}

    def link(found: re.Match) -> str:
        page, rows = known[found[1]]
        if not portal or int(found[2]) not in {row["id"] for row in rows or ()}:
            return found[0]
        return f'<a href="{conditional_escape(portal)}/{page}/{found[2]}/">{found[0]}</a>'

    shown = REFERENCE.sub(link, conditional_escape(text or "–"))
    return mark_safe("<br>".join(shown.split("\n")))


@register.filter
def bundle_name(row: dict) -> str:
    """The name of a raw file in the evidence bundle, of its row in the manifest."""
    return raw_name(row["name"], row["sha256"])


@register.filter
def or_dash(value):
    """– where nothing is recorded, as the front pages of documents explain it."""
    return "–" if value in (None, "") else value


@register.filter
def day(text: str) -> str:
    """A stored day, with or without its time, as prose writes it: 2025-06-25, 2025年6月25日."""
    found = DAY.fullmatch(str(text or ""))
    if not found or get_language() != "zh-hans":
        return text
    year, month, date, rest = found.groups()
    return f"{year}年{int(month)}月{int(date)}日{rest}"


def with_worded_days(facts: dict) -> dict:
    """The facts with the days in columns of days as `day` writes them, for document.

    Times of a clock stay figures: they are compared line by line.
    """
    return {**facts, "tables": {key: {**entry, "rows": [
        [_worded(cell) if column["look"] == "day" else cell
         for cell, column in zip(row, entry["columns"], strict=True)] for row in entry["rows"]]}
        for key, entry in facts.get("tables", {}).items()}}


def _worded(cell: str) -> str:
    return "\n".join(day(line) if len(line) == len("2025-06-25") else line
                     for line in cell.split("\n"))


@register.filter
def in_charge(people: list[dict]) -> str:
    """Who answers for the project on either side, each with the role."""
    answering = [person for person in people if person.get("is_in_charge", True)]
    return listed(_("%(name)s (%(role)s)") % person for person in answering)


@register.simple_tag(takes_context=True)
def watermark(context) -> SafeString:
    """The CSS that puts the document's marks behind every page; nothing without a mark.

    A background is no content: screen readers skip it, and it covers no text.
    """
    marks = [word for name, word in (
        ("is_practice", _("PRACTICE")), ("is_withdrawn", _("WITHDRAWN")), ("is_draft", _("DRAFT")),
        ("is_sample", _("SAMPLE")),
    ) if context.get(name)]
    if not marks:
        return mark_safe("")
    picture = quote(_picture(" · ".join(marks)))
    return mark_safe(f'@page {{ background: url("data:image/svg+xml,{picture}") '
                     "no-repeat center / 150mm auto; }")


def _picture(text: str) -> str:
    room = WIDTH / sum(1 if ord(c) > 0x2E80 else 0.62 for c in text)
    x, y = WIDTH / 2, HEIGHT / 2
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">'
            f'<text x="{x:g}" y="{y:g}" text-anchor="middle" font-family="Noto Sans CJK SC" '
            f'font-weight="700" font-size="{min(LARGEST, room):.0f}" fill="#f8e3e0" '
            f'transform="rotate({TILT} {x:g} {y:g})">{escape(text)}</text></svg>')
