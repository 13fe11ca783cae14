"""From a frozen snapshot to the bytes of its files: pure, no database, no clock."""

from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import override

from assessments.charts import as_svg
from delivery.reports.bilingual import in_language
from delivery.reports.models import Document
from delivery.reports.pdf import render_pdf
from delivery.reports.snapshot import content_hash

FOLDER = "documents/parts/"


def render_document(snapshot: dict, language: str, signed: dict | None = None) -> bytes:
    """The PDF of a snapshot in one language; the same snapshot gives the same bytes.

    Args:
        signed: decision, conditions, comments and signatures of the review; adds the signature
            page (see `delivery.acceptance.signing`).
    """
    facts = in_language(snapshot, language)
    with override(language):
        sections = _sections(facts["kind"], is_signed=bool(signed))
        margins = _margins(facts, content_hash(snapshot))
    context = {
        **facts, **margins, "sections": sections, "content_hash": content_hash(snapshot),
        "signed": in_language(signed, language) if signed else None,
        "metrics": [_with_picture(row, facts["curves"]) for row in facts["metrics"]],
    }
    return render_pdf("documents/document.html", context, language)


def _margins(facts: dict, digest: str) -> dict[str, str]:
    """Head and foot of every page as CSS strings: number, version, page x of y, content hash."""
    before, between, after = _("Page {page} of {pages}").replace("{pages}", "{page}").split(
        "{page}")
    number = facts["number"] or _("DRAFT")
    words = {
        "page_head": f"{facts['title']} · {facts['engagement']['name']}",
        "page_foot": f"{number} V{facts['version']}.0 · SHA-256 {digest[:16]}…",
        "page_before": before, "page_between": between, "page_after": after,
        "practice_words": _("PRACTICE DATA – NOT EVIDENCE"),
    }
    return {key: mark_safe(_css_string(value)) for key, value in words.items()}


def _css_string(text: str) -> str:
    """Text that is safe between the quotes of a CSS string in a <style> element."""
    return "".join(c if c.isalnum() or c in " .,:;·–…-/()" else f"\\{ord(c):x} " for c in text)


def _with_picture(metric: dict, curves: list[dict]) -> dict:
    spec = next((c["spec"] for c in curves if c["criterion"] == metric["criterion"]), None)
    return {**metric, "picture": mark_safe(as_svg(spec)) if spec else ""}


def _sections(kind: str, *, is_signed: bool) -> list[dict]:
    titles = REPORT if kind == Document.Kind.TEST_REPORT else ACCEPTANCE
    numbered = [{"number": str(n), "id": part, "title": title(), "template": f"{FOLDER}{part}.html"}
                for n, (part, title) in enumerate(titles, 1)]
    annexes = [*ANNEXES, *(SIGNED if is_signed else [])]
    return numbered + [
        {"number": letter, "id": part, "title": title(), "template": f"{FOLDER}{part}.html",
         "is_annex": True}
        for letter, (part, title) in zip("ABCDEF", annexes, strict=False)]


# Chapters of a software test report (GB/T 8567-2006), as DOMAIN 9.8 maps them.
REPORT = [
    ("introduction", lambda: _("Introduction")),
    ("references", lambda: _("References")),
    ("overview", lambda: _("Overview of the results")),
    ("details", lambda: _("Results in detail")),
    ("records", lambda: _("Test records")),
    ("evaluation", lambda: _("Evaluation")),
    ("activities", lambda: _("Summary of the test activities")),
]

# Order of an acceptance form (DOMAIN 9.9).
ACCEPTANCE = [
    ("project", lambda: _("Project")),
    ("references", lambda: _("Basis of acceptance")),
    ("scope", lambda: _("Scope and content of acceptance")),
    ("environment", lambda: _("Environment, method and organisation")),
    ("deliverables", lambda: _("Check of the deliverables")),
    ("results", lambda: _("Results by item")),
    ("details", lambda: _("Evidence of each item")),
    ("issues", lambda: _("Outstanding issues")),
    ("conclusion", lambda: _("Conclusion of acceptance")),
    ("opinions", lambda: _("Opinions of both parties")),
    ("signatures", lambda: _("Signatures and seals")),
]

ANNEXES = [
    ("definitions", lambda: _("Metric definitions")),
    ("manifest", lambda: _("Evidence manifest")),
    ("checklist", lambda: _("Reviewer's checklist")),
]
SIGNED = [("signed", lambda: _("Signature page"))]
