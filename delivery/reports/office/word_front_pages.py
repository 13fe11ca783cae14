"""Front pages of a Word file: sign-off, history, distribution, contents."""

from collections.abc import Iterable

from django.utils.translation import gettext as _
from docx.oxml import OxmlElement
from docx.oxml.ns import qn

from delivery.reports.office.word_parts import history

CONTENTS = 'TOC \\o "1-1" \\h \\z \\u'


def front(word, facts: dict, headings: Iterable[str]) -> None:
    """The pages before the chapters, in the order of DOMAIN 9.1."""
    word.add_page_break()
    history(word, facts)
    word.add_paragraph(_("Contents"), style="Heading 2")
    _contents(word, list(headings))


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
