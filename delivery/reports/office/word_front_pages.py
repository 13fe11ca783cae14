"""Front pages of a Word file: sign-off, history, distribution, contents."""

from collections.abc import Iterable

from django.utils.translation import gettext as _
from docx.oxml import OxmlElement
from docx.oxml.ns import qn

from delivery.documents.templatetags.document_tags import day
from delivery.reports.office.word_parts import grid

CONTENTS = 'TOC \\o "1-1" \\h \\z \\u'


def front(word, facts: dict, headings: Iterable[str]) -> None:
    """The pages before the chapters, in the order of DOMAIN 9.1."""
    word.add_page_break()
    _titled(word, _("Sign-off"))
    grid(word, ["", _("Full name"), _("Signature"), _("Date")], [
        (_("Prepared by"), facts["prepared_by"]["name"], "", day(facts["prepared_on"])),
        *((row["step"], row["name"], "", day(row["date"])) for row in facts["signoffs"])],
         looks=("text", "text", "blank", "blank"))
    _titled(word, _("Revision history"))
    grid(word, [_("Version"), _("Date"), _("Change"), _("Changed by"), _("Approved by")],
         [*((row["version"], day(row["date"]), row["note"] or _("First issue"), row["who"],
             row["approved"]) for row in facts["versions"]),
          (f"V{facts['version']}.0", day(facts["date"]), facts["change_note"] or _("First issue"),
           facts["prepared_by"]["name"], facts["approved_by"]["name"] or "–")])
    _titled(word, _("Distribution"))
    grid(word, [_("Full name"), _("Company"), _("Role"), _("Action")], [
        (p["name"], p["organisation"] or "–", p["role"],
         _("Review and sign") if p["is_customer"] else _("For information"))
        for p in facts["people"]])
    _titled(word, _("Contents"))
    _contents(word, list(headings))


def _titled(word, text: str) -> None:
    """A title that the table of contents leaves out."""
    word.add_paragraph(text, style="Heading 2")


def _contents(word, headings: list[str]) -> None:
    """A field that the word processor fills with page numbers; until then the bare headings."""
    for n, heading in enumerate(headings):
        paragraph = word.add_paragraph()
        if n == 0:
            _mark(paragraph, "begin", dirty="true")
            _code(paragraph, CONTENTS)
            _mark(paragraph, "separate")
        paragraph.add_run(heading)
        if n == len(headings) - 1:
            _mark(paragraph, "end")


def _mark(paragraph, sort: str, **values: str) -> None:
    mark = OxmlElement("w:fldChar")
    mark.set(qn("w:fldCharType"), sort)
    for key, value in values.items():
        mark.set(qn(f"w:{key}"), value)
    paragraph.add_run()._r.append(mark)


def _code(paragraph, text: str) -> None:
    code = OxmlElement("w:instrText")
    code.set(qn("xml:space"), "preserve")
    code.text = text
    paragraph.add_run()._r.append(code)
