"""A quote from draft to answer, and its documents: the PDF and the workbook say the same."""

import csv
import io
import shutil
import subprocess
from decimal import Decimal

import pytest
from openpyxl import load_workbook
from PIL import Image
from pypdf import PdfReader

from delivery.documents.branding.theme import tint
from delivery.documents.office.workbook_styles import safe_text
from delivery.documents.services.branding import save_branding
from delivery.quotes import services
from delivery.quotes.models import PriceLine, Quote
from delivery.quotes.quote_checks import failed_checks
from delivery.quotes.rendering import quote_pdf
from delivery.quotes.snapshot import facts_of
from delivery.quotes.xlsx.workbook import quote_xlsx
from engagements.errors import DeskError, NotAllowed, WrongState
from engagements.models import Role
from engagements.services import add_member, create_engagement
from tests.delivery.reports.rendering_elsewhere import same_everywhere


def test_printed_total_of_the_source_is_not_the_sum_of_its_lines(card):
    assert services.computed_total(card) == Decimal("88342.75")
    assert services.source_difference(card) == Decimal("4071.70")


def test_difference_must_be_explained_before_review(people, quote):
    assert [check.code for check in failed_checks(quote)] == ["R-QUO-01"]
    with pytest.raises(DeskError, match=r"4071\.70"):
        services.submit_quote(actor=people[Role.SALES], quote=quote)


def test_a_copy_is_a_draft_of_another_engagement(people, engagement, quote, client):
    """With the same lines and terms; what was agreed with the other customer stays behind."""
    services.update_quote(actor=people[Role.SALES], quote=quote, discount_rate=Decimal("0.1"),
                          discount_reason="老客户", notes="含税", source_note="已核")
    quote.lines.update(remark="与客户 A 约定")
    other = create_engagement(actor=people[Role.MANAGER], code="BK2601", name="另一项目",
                              customer=engagement.customer)
    client.force_login(people[Role.SALES])
    page = client.post(f"/quotes/{quote.pk}/copy/", {"engagement": other.code})
    assert "engagement" in page.context["form"].errors  # nobody's member sees it
    add_member(actor=people[Role.MANAGER], engagement=other, user=people[Role.SALES])
    answer = client.post(f"/quotes/{quote.pk}/copy/", {"engagement": other.code})
    copy = other.quotes.get()
    assert answer["Location"] == f"/quotes/{copy.pk}/"
    assert (copy.state, copy.number.startswith("QT-BK2601-"), copy.version) == (
        Quote.State.DRAFT, True, 1)
    assert (copy.notes, copy.discount_rate, copy.discount_reason, copy.source_note) == (
        "含税", 0, "", "")
    assert [(line.code, line.quantity, line.unit_price) for line in copy.lines.all()] == [
        (line.code, line.quantity, line.unit_price) for line in quote.lines.all()]
    assert {line.remark for line in copy.lines.all()} == {""}
    assert quote.lines.count() == copy.lines.count()


def test_author_does_not_approve(people, engagement, card):
    own = services.create_quote(actor=people[Role.MANAGER], engagement=engagement)
    services.add_line(actor=people[Role.MANAGER], quote=own, quantity=Decimal(1),
                      price=PriceLine.objects.get(code="S-PM"))
    own.refresh_from_db()
    services.update_quote(actor=people[Role.MANAGER], quote=own, source_note="已核")
    services.submit_quote(actor=people[Role.MANAGER], quote=own)
    services.review_quote(actor=people[Role.CONSULTANT], quote=own)
    with pytest.raises(NotAllowed, match="Author of QT"):
        services.approve_quote(actor=people[Role.MANAGER], quote=own)


def test_issued_is_frozen(people, issued):
    before = quote_pdf(issued, "zh-hans")
    with pytest.raises(WrongState):
        services.update_quote(actor=people[Role.SALES], quote=issued, notes="later")
    PriceLine.objects.update(unit_price=1)
    assert quote_pdf(Quote.objects.get(pk=issued.pk), "zh-hans") == before


def test_reviewer_sees_and_answers_only_what_was_issued(people, quote, issued):
    assert list(Quote.objects.visible_to(people[Role.REVIEWER])) == [issued]
    answered = services.answer_quote(actor=people[Role.REVIEWER], quote=issued, is_accepted=True)
    assert answered.state == Quote.State.ACCEPTED
    services.new_version(actor=people[Role.SALES], quote=issued)
    assert list(Quote.objects.visible_to(people[Role.REVIEWER])) == [answered]


def test_new_version_has_the_same_lines_and_number(people, issued):
    second = services.new_version(actor=people[Role.SALES], quote=issued)
    assert (second.number, second.version, second.lines.count()) == (
        issued.number, 2, issued.lines.count())


@pytest.mark.parametrize(("language", "total_word", "money"), [
    ("zh-hans", "价税合计", "¥"), ("en", "Total including tax", "CNY ")])
def test_pdf_shows_the_totals(issued, language, total_word, money):
    reader = PdfReader(io.BytesIO(quote_pdf(issued, language)))
    text = "".join(page.extract_text() for page in reader.pages)
    totals = facts_of(issued)["totals"]
    assert total_word in text
    assert f"{money}{Decimal(totals['gross']):,.2f}" in text
    assert issued.content_hash[:32] in text


@pytest.mark.slow
def test_both_files_are_the_same_everywhere(issued, tmp_path):
    assert set(same_everywhere(tmp_path, [("quote", issued.snapshot)])) == {
        f"quote {language} {form}" for language in ("zh-hans", "en") for form in ("pdf", "xlsx")}


@pytest.mark.slow
def test_workbook_recalculates_to_the_pdf_s_figures(issued, tmp_path):
    office = shutil.which("soffice")
    assert office, "LibreOffice is needed: apt-get install libreoffice-calc"
    path = tmp_path / "quote.xlsx"
    path.write_bytes(quote_xlsx(issued, "zh-hans"))
    subprocess.run([office, f"-env:UserInstallation=file://{tmp_path}/profile", "--headless",
                    "--convert-to", "csv:Text - txt - csv (StarCalc):44,34,76", "--outdir",
                    str(tmp_path), str(path)], check=True, capture_output=True, timeout=120)
    rows = (tmp_path / "quote.csv").read_text().splitlines()
    facts = facts_of(issued)
    cells = list(csv.reader(rows))
    total = next(row for row in cells if row[1] == "合计")
    figures = [cell.replace(",", "") for cell in total]
    assert figures[11:15] == [facts["totals"][n] for n in ("net", "tax", "gross", "list_amount")]
    message = next(row for row in cells if "大写金额" in row)
    assert f"人民币{facts['words']}" in message
    assert facts["totals"]["gross"] in [cell.replace(",", "") for cell in message]
    sums = {row[10]: row[13].replace(",", "") for row in cells if row[10]}
    assert (sums["价税合计"], sums["不含税合计"]) == (
        facts["totals"]["gross"], facts["totals"]["net"])
    assert {rate["tax"] for rate in facts["by_rate"]} <= set(sums.values())
    paid = [row[3].replace(",", "") for row in cells if row[1] in {t["name"] for t in
                                                                   facts["payment"]}]
    assert paid == [term["amount"] for term in facts["payment"]]


def test_workbook_takes_the_look_that_was_frozen(people, quote, issue):
    admin, logo = people[Role.ADMINISTRATOR], io.BytesIO()
    Image.new("RGB", (600, 90), (10, 92, 54)).save(logo, "PNG")
    save_branding(actor=admin, customer=None, colour="#0a5c36", logo=logo.getvalue(),
                  confidentiality_zh="内部", confidentiality_en="R&D only")
    services.update_quote(actor=people[Role.SALES], quote=quote, source_note="以各行为准")
    data = quote_xlsx(issued := issue(quote), "en")
    save_branding(actor=admin, customer=None, colour="#7a1f2b", logo=b"")
    assert quote_xlsx(issued, "en") == data
    sheet = load_workbook(io.BytesIO(data)).active
    assert (sheet["A1"].font.color.rgb, sheet["B19"].fill.fgColor.rgb) == (
        "000A5C36", f"00{tint('#0a5c36')[1:].upper()}")
    assert [Image.open(picture.ref).size for picture in sheet._images] == [(600, 90)]
    assert sheet.oddHeader.right.text == "R&&D only"


def test_workbook_has_formulas_and_no_foreign_ones(people, quote):
    line = quote.lines.first()
    line.name = '=HYPERLINK("http://x")'
    line.save()
    sheet, terms = load_workbook(io.BytesIO(quote_xlsx(quote, "zh-hans"))).worksheets
    assert sheet["B20"].value == "'=HYPERLINK(\"http://x\")"
    assert sheet["L20"].value == "=ROUND(G20*H20*I20*(1-$C$17),2)"
    assert sheet.protection.sheet
    assert (sheet["G20"].protection.locked, sheet["I20"].protection.locked) == (False, True)
    assert (sheet.print_title_rows, sheet.page_setup.orientation) == ("$19:$19", "landscape")
    assert (terms.title, terms.print_title_rows, terms.protection.sheet) == (
        "商务条款", "$1:$1", True)
    assert safe_text("普通文字") == "普通文字"
