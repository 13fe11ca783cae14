"""A document as a Word file that the other side may edit; the PDF is the one that is frozen."""

import io
import re
import string

from django.utils.translation import gettext as _
from django.utils.translation import override
from docx import Document as WordDocument
from docx.enum.section import WD_ORIENT
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Mm, Pt, RGBColor

from bundle_verifier.canonical import content_hash
from delivery.documents.banners import marks
from delivery.documents.bilingual import in_language
from delivery.documents.branding.logos import of_uri
from delivery.documents.branding.theme import frozen_theme, page_headers
from delivery.documents.office.deterministic_zip import deterministic_zip
from delivery.documents.templatetags.document_tags import day, with_worded_days
from delivery.reports import registry
from delivery.reports.office.word_front_pages import front
from delivery.reports.office.word_links import link_references
from delivery.reports.office.word_parts import PARTS, WIDER, grid, table
from delivery.reports.original_language import with_originals_marked
from delivery.reports.registry import Section
from delivery.reports.rendering import PORTRAIT, as_wide_as_needed
from engagements.text.text_joining import following, listed

FONT = {"zh-hans": "Microsoft YaHei", "en": "Calibri"}
FIELDS = {"{page}": "PAGE", "{pages}": "NUMPAGES"}
SMALL = Pt(8)
RED = RGBColor(0xB4, 0x23, 0x18)
LOGO_HEIGHT = Mm(16)
A4, MARGIN, TOP = (Mm(210), Mm(297)), Mm(20), Mm(26)


def document_docx(snapshot: dict, language: str, *, is_withdrawn: bool = False) -> bytes:
    """The Word file in one language: cover, history, and every chapter with its tables.

    Args:
        is_withdrawn: say on the cover and at the top of every page that it is void.
    """
    facts = in_language(snapshot, language)
    with override(language):
        facts, word = with_originals_marked(with_worded_days(facts)), WordDocument()
        theme, warnings = frozen_theme(facts), marks(facts, is_withdrawn=is_withdrawn)
        _styles(word, language, RGBColor.from_string(theme["colour"].removeprefix("#").upper()))
        _logos(word, facts, theme)
        kind = registry.get(facts["kind"])
        _title(word, facts, warnings)
        digest = content_hash(snapshot)
        if kind.has_front_pages:
            _identity(word, facts, digest)
        else:
            word.add_paragraph(f"{facts['number'] or _('DRAFT')} · V{facts['version']}.0 · "
                               f"{day(facts['date'])} · SHA-256 {digest}")
        word.add_paragraph(following(
            _("Editable copy. The issued PDF with the content hash above is the one that counts."),
            facts["originals_note"]))
        annexes = [annex for annex in kind.annexes if _is_written_down(annex)]
        headings = [*(f"{n}  {section.title}" for n, section in enumerate(
            kind.sections_for(facts), 1)), *(
                f"{_('Annex %(letter)s') % {'letter': letter}}  {annex.title}"
                for letter, annex in zip(string.ascii_uppercase, annexes, strict=False))]
        sections = [(heading, as_wide_as_needed(section, facts, PORTRAIT / WIDER))
                    for heading, section in zip(
                        headings, (*kind.sections_for(facts), *annexes), strict=True)]
        if kind.has_front_pages:
            front(word, facts, [heading for heading, _section in sections])
        for heading, section in sections:
            _chapter(word, facts, heading, section)
        _annexes(word, facts)
        link_references(word, facts)
        _margins(word, facts, warnings)
    data = io.BytesIO()
    word.save(data)
    return deterministic_zip(data.getvalue(), facts["date"])


def _styles(word, language: str, colour: RGBColor) -> None:
    for name in ("Normal", "Title", "Heading 1", "Heading 2", "Table Grid", "List Bullet"):
        font = word.styles[name].font
        font.name = FONT[language]
        fonts = word.styles[name].element.get_or_add_rPr().get_or_add_rFonts()
        fonts.set(qn("w:eastAsia"), FONT["zh-hans"])
        for theme in ("asciiTheme", "hAnsiTheme", "eastAsiaTheme"):
            fonts.attrib.pop(qn(f"w:{theme}"), None)
        if name.startswith(("Heading", "Title")):
            font.color.rgb = colour
    word.styles["Normal"].font.size = Pt(10)
    word.styles["Heading 1"].font.size = Pt(15)
    for name, before, after in (("Heading 1", 12, 6), ("Heading 2", 8, 3), ("Normal", 0, 4)):
        form = word.styles[name].paragraph_format
        form.space_before, form.space_after = Pt(before), Pt(after)
    page = word.sections[0]
    page.page_width, page.page_height = A4
    page.left_margin = page.right_margin = page.bottom_margin = MARGIN
    page.top_margin, page.header_distance = TOP, Mm(10)


def _logos(word, facts: dict, theme: dict) -> None:
    """The firm's logo and the customer's, each described for those who cannot see it."""
    pictures = [(theme[name], facts[side]["name"]) for name, side in
                (("logo", "supplier"), ("partner_logo", "customer")) if theme[name]]
    if pictures:
        run = word.add_paragraph().add_run()
        for n, (uri, name) in enumerate(pictures):
            if n:
                run.add_tab()
            picture = run.add_picture(io.BytesIO(of_uri(uri)), height=LOGO_HEIGHT)
            picture._inline.docPr.set("descr", _("Logo of %(name)s") % {"name": name})


def _title(word, facts: dict, warnings: list[str]) -> None:
    word.add_paragraph(facts["supplier"]["name"])
    for warning in warnings:
        _warn(word.add_paragraph(), warning)
    word.add_paragraph(facts["title"], style="Title")
    word.add_paragraph(facts["engagement"]["name"])


def _identity(word, facts: dict, digest: str) -> None:
    grid(word, [], [
        (_("Project code"), facts["engagement"]["code"]),
        (_("Document number"), facts["number"] or _("DRAFT")),
        (_("Version"), f"V{facts['version']}.0"),
        (_("Contract number"), facts["engagement"]["contract_number"]),
        (_("Party A (customer)"), facts["customer"]["name"]),
        (_("Party B (supplier)"), facts["supplier"]["name"]), (_("Date"), day(facts["date"])),
        (_("Prepared by"), facts["prepared_by"]["name"]),
        (_("Reviewed by"), facts["reviewed_by"]["name"]),
        (_("Approved by"), facts["approved_by"]["name"]),
        (_("Content hash of the issued document (SHA-256)"), digest)])


def _warn(paragraph, text: str) -> None:
    run = paragraph.add_run(text)
    run.bold, run.font.color.rgb = True, RED


def _chapter(word, facts: dict, title: str, section) -> None:
    is_turned = _turn(word, is_wide=section.is_wide)
    heading = word.add_heading(title, 1)
    heading.paragraph_format.page_break_before = section.starts_page and not is_turned
    for name in section.all_parts:
        sort, _colon, key = name.partition(":")
        words = facts["words"].get(key, {}) if sort == "words" else {}
        if words.get("text") and len(section.all_parts) > 1:
            word.add_heading(words["title"], 2)
        {"words": _words, "table": _table, "part": _part}.get(sort, _nothing)(word, facts, key)


def _annexes(word, facts: dict) -> None:
    """Say which annexes the issued document has: they list what nobody edits."""
    if annexes := [annex for annex in registry.get(facts["kind"]).annexes
                   if not _is_written_down(annex)]:
        word.add_paragraph(_("Annexes, in the issued PDF only: %(titles)s.") % {
            "titles": listed(annex.title for annex in annexes)})


def _is_written_down(annex: Section) -> bool:
    """Whether the Word file knows all parts of the annex."""
    return all(name.removeprefix("part:") in PARTS for name in annex.all_parts
               if name.startswith("part:"))


def _turn(word, *, is_wide: bool) -> bool:
    """Landscape for wide chapters, and back. Returns whether that began a page."""
    last = word.sections[-1]
    is_now_wide = last.orientation == WD_ORIENT.LANDSCAPE
    is_turned = is_wide != is_now_wide
    if is_turned:
        fresh = word.add_section()
        fresh.orientation = WD_ORIENT.LANDSCAPE if is_wide else WD_ORIENT.PORTRAIT
        fresh.page_width, fresh.page_height = A4[::-1] if is_wide else A4
    return is_turned


def _words(word, facts: dict, key: str) -> None:
    for line in facts.get("words", {}).get(key, {}).get("text", "").splitlines():
        if line.startswith("- "):
            word.add_paragraph(line[2:], style="List Bullet")
        elif line.strip():
            word.add_paragraph(line.strip())


def _table(word, facts: dict, key: str) -> None:
    if entry := facts.get("tables", {}).get(key):
        table(word, entry)


def _part(word, facts: dict, key: str) -> None:
    PARTS[key](word, facts)


def _nothing(word, facts: dict, key: str) -> None:
    """Figures stay in the PDF."""


def _margins(word, facts: dict, warnings: list[str]) -> None:
    number = facts["number"] or _("DRAFT")
    head, foot = word.sections[0].header.paragraphs[0], word.sections[0].footer.paragraphs[0]
    heading = page_headers(frozen_theme(facts), f"{facts['title']} · {facts['engagement']['name']}")
    head.text = heading["page_head"]
    if heading["page_corner"]:
        head.add_run(f"   {heading['page_corner']}").bold = True
    for warning in warnings:
        _warn(head, f"   {warning}")
    for run in head.runs:
        run.font.size = SMALL
    foot.text = f"{number} V{facts['version']}.0 · "
    for text in re.split(r"({pages?})", _("Page {page} of {pages}")):
        _field(foot, FIELDS[text]) if text in FIELDS else foot.add_run(text)


def _field(paragraph, name: str) -> None:
    """A number that the word processor fills in."""
    field = OxmlElement("w:fldSimple")
    field.set(qn("w:instr"), name)
    paragraph._p.append(field)
