"""Chapters of a Word file that are no plain passage and no table of the facts."""

from collections.abc import Iterable
from itertools import zip_longest

from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from docx.enum.table import WD_TABLE_ALIGNMENT
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Mm, Pt

from delivery.documents.tables.column_widths import LEAST, column_widths
from delivery.documents.templatetags.document_tags import day, in_charge
from delivery.reports.conclusion_sentences import conclusion_sentence, waived_sentences
from delivery.reports.decision_summary import cited_test_report, picture
from delivery.reports.office.plain_tables import departures
from engagements.status import PALE, look
from engagements.text.printable_text import printable
from engagements.text.text_joining import colon, labelled, listed

BOX = "☐"
FILLS = {outcome: PALE[look(outcome).colour] for outcome in (
    "passed", "failed", "not_measured", "not_provable")}
HEAD, SIDE, RULE = "ECEFF3", "F5F7FA", "B9C0CA"  # beside any colour of headings
NAMES = 0.3  # share of the column that names the rows
BLANK = "\n\n\n"  # room to write
WIDER = 1.18  # office fonts, against those of the PDF
SIZE, DENSE, SMALL = Pt(8.5), Pt(7.5), Pt(6.5)  # of letters; the smallest are of checksums
MANY_COLUMNS = 7  # on an upright page their words stand in letters of dense tables
SIDES = {"number": WD_ALIGN_PARAGRAPH.RIGHT, "box": WD_ALIGN_PARAGRAPH.CENTER}


def grid(word, titles: list[str], rows: Iterable[Iterable[str]], looks: Iterable[str] = (),
         *, is_whole: bool = False, is_dense: bool = False):
    """A table as wide as the page's text; without titles its first column names the rows.

    Args:
        looks: how each column is set (see `tables`); text where nothing is said.
        is_whole: keep all rows on one page.
        is_dense: set small; so is a table of many columns on an upright page.

    Its first row stays with the head and its last with the one before, so that no page begins
    with a single row; a table without titles stays on one page.
    """
    looks = list(looks)
    rows = [[printable(str(value)) for value in row] for row in rows]
    page = word.sections[-1]
    is_dense = is_dense or (len(titles) >= MANY_COLUMNS and page.page_width < page.page_height)
    widths = _widths(word, titles, rows, looks, is_dense=is_dense)
    made = word.add_table(rows=0, cols=len(widths), style="Table Grid")
    made.alignment, made.autofit = WD_TABLE_ALIGNMENT.CENTER, False
    _look(made)
    for column, width in zip(made.columns, widths, strict=True):
        column.width = width
    printed = [titles, *rows] if titles else rows
    for n, row in enumerate(printed):
        cells = made.add_row().cells
        _keep_whole(made.rows[-1])
        for m, (cell, text, width) in enumerate(zip(cells, row, widths, strict=True)):
            cell.width = width
            is_head = (n == 0) if titles else (m == 0)
            if is_head:
                _shade(cell, HEAD if titles else SIDE)
            look = looks[m] if m < len(looks) else "text"
            size = SMALL if look == "hash" and not is_head else DENSE if is_dense else SIZE
            _write(cell, text, size, is_bold=is_head, look=look, keeps_with_next=(
                n < len(printed) - 1 and (is_whole or not titles or n in (0, len(printed) - 2))))
    if titles:
        _mark(made.rows[0]._tr.get_or_add_trPr(), "w:tblHeader", val="true")
    word.add_paragraph()
    return made


def box(word, *lines: str) -> None:
    """Lines that stay together on one page, the first in bold: what the document concludes."""
    made = word.add_table(rows=1, cols=1, style="Table Grid")
    _look(made)
    _keep_whole(made.rows[0])
    cell = made.rows[0].cells[0]
    _shade(cell, SIDE)
    for n, line in enumerate(lines):
        paragraph = cell.add_paragraph() if n else cell.paragraphs[0]
        paragraph.add_run(printable(line)).bold = n == 0
        paragraph.paragraph_format.keep_with_next = n < len(lines) - 1
    word.add_paragraph()


def _write(cell, text: str, size: Pt, *, is_bold: bool, look: str, keeps_with_next: bool) -> None:
    """Text of a cell; a kept one stays on the page of the row below."""
    cell.text = text
    paragraph = cell.paragraphs[0]
    paragraph.alignment = SIDES.get(look)
    paragraph.paragraph_format.space_after = Pt(0)
    paragraph.paragraph_format.keep_with_next = keeps_with_next or None
    for run in paragraph.runs:
        run.font.size, run.bold = size, is_bold


def _widths(word, titles: list[str], rows: list[list[str]], looks: list[str], *,
            is_dense: bool) -> list[int]:
    """Widths of the columns by what stands in them, as the PDF sets them."""
    page = word.sections[-1]
    total = page.page_width - page.left_margin - page.right_margin
    if not titles:
        return [int(total * NAMES), total - int(total * NAMES)]
    columns = [{"title": title, "look": look}
               for title, look in zip_longest(titles, looks, fillvalue="text")]
    entry = {"columns": columns, "rows": rows, "is_dense": is_dense}
    shares = column_widths(entry, total / Mm(1) / WIDER, LEAST / WIDER)
    return [int(total * share / 100) for share in shares]


def _look(made) -> None:
    """Thin grey rules, and air above and below every line."""
    properties = made._tbl.tblPr
    borders = _mark(properties, "w:tblBorders")
    for side in ("top", "left", "bottom", "right", "insideH", "insideV"):
        _mark(borders, f"w:{side}", val="single", sz="4", color=RULE)
    margins = _mark(properties, "w:tblCellMar")
    for side, width in (("top", "50"), ("left", "90"), ("bottom", "50"), ("right", "90")):
        _mark(margins, f"w:{side}", w=width, type="dxa")


def _shade(cell, color: str) -> None:
    _mark(cell._tc.get_or_add_tcPr(), "w:shd", val="clear", color="auto", fill=color)


def _keep_whole(row) -> None:
    """A row does not break over two pages."""
    _mark(row._tr.get_or_add_trPr(), "w:cantSplit", val="true")


def _mark(parent, name: str, **values: str):
    made = OxmlElement(name)
    for key, value in values.items():
        made.set(qn(f"w:{key}"), value)
    parent.append(made)
    return made


def _description(word, facts: dict) -> None:
    word.add_paragraph(facts["engagement"]["description"])


def _models(word, facts: dict) -> None:
    grid(word, [_("Code"), _("Model"), _("Task"), _("Framework"), _("Scope")],
         [(m["code"], m["name"], m["task"], m["framework"], m["scope"])
          for m in facts["models"]])


def _scope(word, facts: dict) -> None:
    _description(word, facts)
    _models(word, facts)


def _models_in_words(word, facts: dict) -> None:
    """A certificate names the models; their table stands in the test report."""
    _description(word, facts)
    word.add_paragraph(labelled(_("Models in scope"), listed(
        f"{m['code']} {m['name']} ({m['scope']})" for m in facts["models"])))


def _references(word, facts: dict) -> None:
    grid(word, [_("Title"), _("Number"), _("Version"), _("Date")],
         [(r["title"], r["number"], r["version"] or "–", day(r["date"]) or "–")
          for r in facts["references"]], ("text", "code", "code", "day"))
    _criteria_signed(word, facts)


def _criteria_signed(word, facts: dict) -> None:
    criteria = facts["criteria"]
    word.add_paragraph(_(
        "The acceptance criteria are the signed version V%(version)s of %(at)s, signed for the "
        "customer by %(customer)s and for the supplier by %(supplier_name)s. They have been "
        "frozen since.") % {
            "version": criteria["version"], "at": day(criteria["signed_at"]),
            "customer": criteria["customer_signatory"], "supplier_name": criteria["signed_by"],
        } if criteria["signed_at"] else _("The acceptance criteria are not signed."))


def _basis(word, facts: dict) -> None:
    """What the certificate rests on, and the test report that it refers to for everything else."""
    report = cited_test_report(facts)
    word.add_paragraph(listed(" ".join(filter(None, (
        row["title"], row["number"], row["version"]))) for row in facts["references"]
        if row is not report))
    _criteria_signed(word, facts)
    box(word, *([_("Definitions, environments, runs, raw files and every figure are in the test "
                   "report %(number)s %(version)s of %(day)s; this certificate does not repeat "
                   "them.") % {**report, "day": day(report["date"])}, f"SHA-256 {report['hash']}"]
                if report else [_("No test report is in force; runs and raw files are in the annex "
                                  "file and in the evidence bundle.")]))


def _project(word, facts: dict) -> None:
    engagement = facts["engagement"]
    grid(word, [], [
        (_("Project"), engagement["name"]), (_("Project code"), engagement["code"]),
        (_("Contract number"), engagement["contract_number"] or _("not agreed")),
        (_("Party A (customer)"), facts["customer"]["name"]),
        (_("Party B (supplier)"), facts["supplier"]["name"]),
        (_("Period"), " – ".join(day(engagement[end]) or _("not agreed")
                                 for end in ("starts_on", "ends_on"))),
        (_("People in charge"), in_charge(facts["people"]))])


def _method(word, facts: dict) -> None:
    word.add_paragraph(_(
        "Method: the signed criteria are judged by the system from stored raw files. Each figure "
        "is checked against its definition, threshold and baseline; the raw files carry SHA-256 "
        "checksums and the evidence bundle recomputes every verdict offline."))
    word.add_paragraph(_(
        "Organisation: the supplier runs the measurements and issues this document; the customer's "
        "reviewers examine the evidence, decide and sign."))


def _deliverables(word, facts: dict) -> None:
    rows = [(f"{r['title']} {r['number']}", r["version"], "1", "PDF", r["hash"])
            for r in facts["references"] if r["is_delivered"]]
    if "evidence" in facts:
        rows.append((_("Raw evidence files"), "–", len(facts["evidence"]),
                     _("Evidence bundle (zip)"), _("SHA256SUMS in the bundle")))
    grid(word, [_("Deliverable"), _("Version"), _("Quantity"), _("Medium"), _("Checksum")],
         rows, ("text", "code", "number", "text", "hash"))


def _results(word, facts: dict) -> None:
    """The conclusion, and the picture of models and criteria with its words and colours."""
    found, shown = facts["summary"], picture(facts)
    box(word, conclusion_sentence(facts), _(
        "%(total)s criteria: %(passed)s passed, %(failed)s failed, %(missing)s not measured, "
        "%(open)s not provable.") % {
            "total": found["metrics"], "passed": found["passed"], "failed": found["failed"],
            "missing": found["not_measured"], "open": found["not_provable"]},
        *([ngettext(
            "%(n)s verdict rests on a file that no job of the desk made: that it is a run on the "
            "NPU is declared by the person who stored it.",
            "%(n)s verdicts rest on files that no job of the desk made: that they are runs on the "
            "NPU is declared by the person who stored each.", n) % {"n": n}]
          if (n := found.get("declared", 0)) else []))
    if not shown:
        word.add_paragraph(_("There is no criterion."))
        return
    made = grid(word, [_("Model"), *(f"{column['name']} {column['threshold']}".strip()
                                     for column in shown["columns"])],
                [(f"{row['model']} {row['name']}", *map(_verdicts, row["cells"]))
                 for row in shown["rows"]], is_dense=True)
    for line, row in zip(list(made.rows)[1:], shown["rows"], strict=True):
        for cell, found in zip(line.cells[1:], row["cells"], strict=True):
            if found:
                _shade(cell, FILLS[found[0]["outcome"]])
    _open_points(word, facts)


def _verdicts(cell: list[dict]) -> str:
    """The words of a cell of the picture."""
    return "\n".join(f"{entry['label']} × {entry['n']}" if entry["n"] > 1 else
                     f"{entry['label']} {entry['figure']}".strip() for entry in cell
                     ) or _("no criterion")


def table(word, entry: dict) -> None:
    """A table of the facts below its caption, or the sentence that stands for it."""
    word.add_heading(entry["caption"], 2)
    if entry["rows"]:
        grid(word, [column["title"] for column in entry["columns"]],
             [[cell or "–" for cell in row] for row in entry["rows"]],
             [column["look"] for column in entry["columns"]],
             is_dense=entry.get("is_dense", False))
    else:
        word.add_paragraph(entry["empty"])


def _departures(word, facts: dict) -> None:
    for entry in departures(facts):
        table(word, entry)


def _open_points(word, facts: dict) -> None:
    if points := facts.get("open_points"):
        box(word, _("To be resolved before unconditional acceptance"),
            *(f"• {sentence}" for sentence in points))


def _issues(word, facts: dict) -> None:
    if not facts["issues"]:
        word.add_paragraph(_("Every agreed criterion is passed.") if facts["metrics"]
                           else _("There is no criterion."))
        return
    grid(word, [_("Number"), _("Model"), _("Description"), _("Verdict"), _("Responsible"),
                _("Due"), _("Affects the final acceptance")],
         [(i["number"], i["model"], f"{i['name']}: {i['text']}", i["label"], "", "", "")
          for i in facts["issues"]])


def _conclusion(word, facts: dict) -> None:
    for sentence in waived_sentences(facts):
        word.add_paragraph(sentence)
    box(word, _("The customer decides on the basis of the results above:"),
        *(f"{BOX} {choice}" for choice in (
            _("Passed"), _("Passed with conditions: the outstanding issues are closed by their due "
                           "dates"),
            _("Failed; reason and date of the repeated inspection are stated"))))


def _receipt_state(word, facts: dict) -> None:
    word.add_paragraph(_("The customer records the receipt of each in the review."))
    if missing := facts.get("missing_deliverables"):
        word.add_paragraph(_("not complete; missing: %(names)s") % {"names": listed(missing)})


def _opinions(word, facts: dict) -> None:
    grid(word, [], [(_("Opinion of party A"), BLANK), (_("Opinion of party B"), BLANK)])


def _signatures(word, facts: dict) -> None:
    lines = [_("Authorised representative (signature)"), _("Name and title"), _("Date"),
             _("Seal")]
    grid(word, [_("Party A (customer)"), _("Party B (supplier)")],
         [(f"{line}{colon().rstrip()}\n\n", f"{line}{colon().rstrip()}\n\n") for line in lines],
         is_whole=True)


def history(word, facts: dict) -> None:
    """Sign-off, revision history and distribution (DOMAIN 9.1)."""
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


def _titled(word, text: str) -> None:
    """A title that the table of contents leaves out."""
    word.add_paragraph(text, style="Heading 2")


def _nothing(word, facts: dict) -> None:
    """What only the signed PDF holds, or its page numbers."""


PARTS = {
    "references": _references, "model_table": _models, "description": _description,
    "scope": _scope, "models_in_scope": _models_in_words, "basis": _basis,
    "project": _project, "environment": _method,
    "deliverables": _deliverables, "results": _results,
    "departures": _departures, "open_points": _open_points,
    "issues": _issues, "unpassed": _issues, "receipt_state": _receipt_state,
    "conclusion": _conclusion, "opinions": _opinions, "signatures": _signatures,
    "history": history, "annex_list": _nothing, "comments": _nothing,
}
