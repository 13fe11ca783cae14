"""Raw files (E12) and runs (#34) in a Word file lead to their pages, as in the PDF."""

from copy import deepcopy

from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import RGBColor
from docx.text.run import Run

from delivery.documents.templatetags.document_tags import REFERENCE

COLOR = RGBColor(0x1D, 0x4E, 0x89)


def link_references(word, facts: dict) -> None:
    """Turn the references in the body's texts into hyperlinks.

    Only numbers that the document lists: E40021 may be an error code. Without a public address of
    the portal nothing is changed.
    """
    if not (portal := facts.get("portal_url")):
        return
    pages = {"E": ("artifacts", _numbers(facts.get("evidence"))),
             "#": ("jobs", _numbers(facts.get("runs")))}
    for element in list(word.element.body.iter(qn("w:r"))):
        text = Run(element, word).text
        if any(int(found[2]) in pages[found[1]][1] for found in REFERENCE.finditer(text)):
            _split(word, element, text, portal, pages)


def _numbers(rows: list[dict] | None) -> set[int]:
    return {row["id"] for row in rows or ()}


def _split(word, element, text: str, portal: str, pages: dict) -> None:
    """In place of a run: the texts between the references, and the references as links."""
    begin, parts = 0, []
    for found in REFERENCE.finditer(text):
        page, known = pages[found[1]]
        if int(found[2]) in known:
            parts += [_copied(word, element, text[begin:found.start()]),
                      _link(word, element, found[0], f"{portal}/{page}/{found[2]}/")]
            begin = found.end()
    for part in (*parts, _copied(word, element, text[begin:])):
        if part is not None:
            element.addprevious(part)
    element.getparent().remove(element)


def _copied(word, element, text: str):
    """The run with another text; none for an empty one."""
    if not text:
        return None
    made = deepcopy(element)
    Run(made, word).text = text
    return made


def _link(word, element, text: str, address: str):
    made = OxmlElement("w:hyperlink")
    made.set(qn("r:id"), word.part.relate_to(
        address, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
    shown = _copied(word, element, text)
    Run(shown, word).font.color.rgb = COLOR
    made.append(shown)
    return made
