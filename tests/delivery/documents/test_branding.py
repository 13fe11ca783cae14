"""Branding of documents: checked, versioned, per customer, and frozen with what was issued."""

import io

import docx
import pytest
from django.utils.translation import override
from PIL import Image, PngImagePlugin

from delivery.documents.branding import logos, theme
from delivery.documents.branding.theme import theme_for
from delivery.documents.branding_sample import sample_page
from delivery.documents.models import BrandingVersion
from delivery.documents.services.branding import proposed, save_branding
from delivery.reports import services, standard_text
from delivery.reports.facts.snapshot import content_hash
from delivery.reports.models import Document
from delivery.reports.office.word_document import document_docx
from delivery.reports.rendering import render_document
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import Customer, Role

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 300 90"{attributes}>{inner}</svg>'
SHAPE = '<rect width="300" height="90" fill="#0a5c36"/>'


def picture(form="PNG", size=(300, 90), colour=(10, 92, 54), **options) -> bytes:
    data = io.BytesIO()
    Image.new("RGB", size, colour).save(data, form, **options)
    return data.getvalue()


def svg(inner=SHAPE, attributes="") -> bytes:
    return SVG.format(inner=inner, attributes=attributes).encode()


@pytest.mark.parametrize(("one", "other", "ratio"), [
    ("#000000", "#ffffff", 21), ("#777777", "#ffffff", 4.48), ("#ff0000", "#ffffff", 4.0)])
def test_contrast_follows_the_formula_of_wcag(one, other, ratio):
    assert theme.contrast(one, other) == pytest.approx(ratio, abs=0.01)


@pytest.mark.parametrize(("colour", "word"), [
    ("#ffcc00", "darker"), ("#767676", "darker"), ("red", "not a colour"),
    ("#12345", "not a colour"),
    ("#12305c; } body { display:none", "not a colour")])
def test_pale_and_false_colours_are_refused(colour, word):
    with override("en"), pytest.raises(InvalidInput, match=word):
        theme.checked_colour(colour, "Colour")


def test_the_tint_of_the_shipped_colour_is_the_shipped_tint():
    assert theme.tint("#12305c") == "#e9eef6"


@pytest.mark.parametrize("data", [
    picture(), picture("JPEG"), svg(), svg('<style>.a{fill:#0a5c36}</style>'
                                           '<path class="a" d="M0 0H300V90H0z"/>')])
def test_logos_become_plain_pictures(data):
    found = Image.open(io.BytesIO(logos.checked_logo(data)))
    assert (found.format, found.mode) == ("PNG", "RGB")
    assert found.width / found.height == pytest.approx(10 / 3, rel=0.02)
    assert found.getpixel((found.width // 2, found.height // 2)) == pytest.approx(
        (10, 92, 54), abs=3)


def test_a_logo_keeps_nothing_but_its_picture():
    note = PngImagePlugin.PngInfo()
    note.add_text("Comment", "secret of the designer")
    data = logos.checked_logo(picture(size=(3000, 900), pnginfo=note))
    assert b"secret" not in data
    assert Image.open(io.BytesIO(data)).size == (1000, 300)


@pytest.mark.parametrize("data", [
    svg("<script>alert(1)</script>"), svg('<g onload="alert(1)"/>'), svg(attributes=' onload="x"'),
    svg("<foreignObject><p>x</p></foreignObject>"), svg('<image href="/etc/passwd"/>'),
    svg('<image xmlns:x="http://www.w3.org/1999/xlink" x:href="http://10.0.0.1/a.png"/>'),
    svg('<use href="#a"/>'), svg("<text>Firm</text>"),
    svg("<style>@import url(http://10.0.0.1/a.css);</style>"),
    svg('<rect fill="url(http://10.0.0.1/a)"/>'), svg('<rect style="fill:url(file:///etc/x)"/>'),
    svg('<a href="javascript:alert(1)"><rect/></a>'), svg("<rect/>" * 6000),
    b'<!DOCTYPE svg [<!ENTITY a "aa">]>' + svg("<title>&a;</title>"), b"<html></html>", b"<svg",
    SVG.format(inner=SHAPE, attributes=' width="0" height="9"').encode(),
    picture("GIF"), picture("TIFF"), picture("BMP"), b"%PDF-1.7", b"", b"\x89PNG\r\n\x1a\n broken",
    picture()[:200], picture(size=(20, 20)), picture(size=(5000, 4000)), b"\0" * (2**20 + 1)])
def test_hostile_and_useless_logos_are_refused(data):
    with pytest.raises(InvalidInput):
        logos.checked_logo(data)


def test_versions_are_only_added_and_only_by_administrators(people, engagement):
    admin = people[Role.ADMINISTRATOR]
    first = save_branding(actor=admin, customer=None, colour="#0A5C36", logo=picture())
    second = save_branding(actor=admin, customer=None, colour="#7a1f2b")
    own = save_branding(actor=admin, customer=engagement.customer, colour="")
    assert (first.version, second.version, own.version) == (1, 2, 1)
    assert BrandingVersion.objects.get(pk=first.pk).colour == "#0a5c36"
    assert bytes(second.logo) == bytes(first.logo)  # not named: as before
    gone = save_branding(actor=admin, customer=None, logo=b"")
    assert gone.logo is None
    for role in (Role.MANAGER, Role.SALES, Role.REVIEWER):
        with pytest.raises(NotAllowed):
            save_branding(actor=people[role], customer=None, colour="#0a5c36")


def test_a_customer_has_what_it_sets_and_the_rest_of_the_firm(people, engagement):
    admin, customer = people[Role.ADMINISTRATOR], engagement.customer
    save_branding(actor=admin, customer=None, colour="#0a5c36", cover="band",
                  logo=picture(), confidentiality_zh="内部", confidentiality_en="Internal")
    save_branding(actor=admin, customer=customer, accent="#7a1f2b", header_zh="南方电网",
                           partner_logo=picture(colour=(1, 2, 3)))
    look = theme_for(customer)
    assert (look["colour"], look["accent"], look["cover"]) == ("#0a5c36", "#7a1f2b", "band")
    assert look["header"] == {"zh-hans": "南方电网", "en": "南方电网"}
    assert look["confidentiality"]["en"] == "Internal"
    assert look["logo"].startswith("data:image/png;base64,")
    assert look["partner_logo"] not in ("", look["logo"])
    assert theme_for(Customer.objects.create(name="乙"))["partner_logo"] == ""
    with pytest.raises(InvalidInput):
        save_branding(actor=admin, customer=None, partner_logo=picture())


def test_logos_in_a_word_file_say_whose_they_are(people, delivered):
    admin = people[Role.ADMINISTRATOR]
    save_branding(actor=admin, customer=None, logo=picture())
    save_branding(actor=admin, customer=delivered.customer,
                  partner_logo=picture(colour=(1, 2, 3)))
    draft = services.draft_document(actor=admin, engagement=delivered, kind="SOW")
    word = docx.Document(io.BytesIO(document_docx(draft.snapshot, "en")))
    assert [shape._inline.docPr.get("descr") for shape in word.inline_shapes] == [
        "Logo of Delivery company", "Logo of A power company"]


@pytest.mark.slow
def test_what_is_issued_keeps_its_look(monkeypatch, people, delivered):
    """A later change alters neither snapshot nor files; a correction takes the new look."""
    set_with = []
    monkeypatch.setattr("delivery.reports.rendering.render_document", lambda facts, *a, **k:
                        set_with.append(facts["look"]["colour"]) or b"%PDF-1.7 short")
    admin, manager = people[Role.ADMINISTRATOR], people[Role.MANAGER]
    save_branding(actor=admin, customer=None, colour="#0a5c36")
    draft = services.draft_test_report(actor=manager, engagement=delivered)
    services.submit_document(actor=manager, document=draft)
    save_branding(actor=admin, customer=delivered.customer, colour="#7a1f2b")
    services.review_document(actor=people[Role.CONSULTANT], document=draft)
    document = services.issue_document(actor=admin, document=draft)
    assert set(set_with) == {"#0a5c36"}
    assert document.content_hash == content_hash(Document.objects.get(pk=document.pk).snapshot)
    newer = services.draft_correction(actor=manager, document=document, reason="x")
    assert newer.snapshot["look"]["colour"] == "#7a1f2b"
    assert Document.objects.get(pk=document.pk).snapshot["look"]["versions"] == {
        "firm": 1, "customer": 0}


def test_a_paper_frozen_before_a_change_is_told_by_its_time(people, engagement):
    admin, customer = people[Role.ADMINISTRATOR], engagement.customer
    before = save_branding(actor=admin, customer=customer, colour="#0a5c36").made_at
    save_branding(actor=admin, customer=customer, colour="#7a1f2b")
    assert theme_for(customer, before)["colour"] == "#0a5c36"
    assert theme_for(customer)["colour"] == "#7a1f2b"


@pytest.mark.parametrize("language", ["zh-hans", "en"])
@pytest.mark.parametrize("cover", BrandingVersion.Cover.values)
def test_the_sample_shows_the_look(people, engagement, language, cover):
    look = proposed(engagement.customer, colour="#0a5c36", cover=cover, logo=picture(),
                    header_zh='南方"}</style><script>', confidentiality_zh="秘密",
                    confidentiality_en="Secret", seal_mm=52)
    page = sample_page(look, language)
    assert "#0a5c36" in page
    assert "#12305c" not in page
    assert f'class="cover {cover}"' in page
    assert page.count("data:image/png") == 1
    assert ("Secret" if language == "en" else "秘密") in page
    assert "<script>" not in page
    assert "52mm" in page


def test_pages_and_preview(people, engagement, client):
    client.force_login(people[Role.ADMINISTRATOR])
    page = f"/documents/branding/{engagement.customer_id}/"
    upload = io.BytesIO(picture())
    upload.name = "logo.png"
    client.post(page, {"colour": "#0a5c36", "cover": "formal", "partner_logo": upload})
    row = BrandingVersion.objects.get(customer=engagement.customer)
    assert (row.cover, bool(row.partner_logo), row.version) == ("formal", True, 1)
    assert "#0a5c36" in client.get(page).content.decode()
    shown = client.post(f"{page}preview/", {"colour": "#7a1f2b", "show": "sheets:en"})
    assert "#7a1f2b" in shown.content.decode()
    assert "data:image/png" in shown.content.decode()  # the stored logo
    refused = client.post(f"{page}preview/", {"colour": "#ffee00", "show": "sheets:en"})
    assert (refused.status_code, "#ffee00" in refused.json()["detail"]) == (422, True)
    assert BrandingVersion.objects.count() == 1
    client.post(page, {"colour": "#ffee00"})
    assert BrandingVersion.objects.count() == 1
    client.force_login(people[Role.MANAGER])
    assert client.post(f"{page}preview/", {}).status_code == 403


@pytest.mark.slow
def test_the_sample_is_a_marked_pdf(people, client):
    client.force_login(people[Role.ADMINISTRATOR])
    answer = client.post("/documents/branding/firm/preview/", {"show": "pdf:en"})
    assert answer["Content-Type"] == "application/pdf"
    assert answer.content.startswith(b"%PDF-1.7")


def test_the_api_reads_and_adds_versions(people, engagement, client):
    path = "/api/v1/document-identities/"
    client.force_login(people[Role.ADMINISTRATOR])
    upload = io.BytesIO(picture())
    upload.name = "logo.png"
    made = client.post(path, {"customer": engagement.customer_id, "colour": "#0a5c36",
                              "logo": upload})
    assert (made.status_code, made.json()["version"], made.json()["has_logo"]) == (201, 1, True)
    again = client.post(path, {"customer": engagement.customer_id, "without_logo": True},
                        content_type="application/json")
    assert (again.json()["version"], again.json()["has_logo"]) == (2, False)
    bad = client.post(path, {"colour": "#ffffff"}, content_type="application/json")
    assert bad.status_code == 400
    client.force_login(people[Role.SALES])
    rows = client.get(f"{path}?customer={engagement.customer_id}").json()["results"]
    assert [row["version"] for row in rows] == [2, 1]
    assert client.post(path, {"colour": "#0a5c36"}).status_code == 403
    client.force_login(people[Role.REVIEWER])
    assert client.get(path).status_code == 403


def test_a_customer_may_have_its_own_texts(people, engagement, client):
    manager, customer = people[Role.MANAGER], engagement.customer
    services.save_standard_text(actor=manager, code="as_method", zh="通用", en="General")
    services.save_standard_text(actor=manager, code="as_method", zh="专用", en="Own",
                                customer=customer)
    services.save_standard_text(actor=manager, code="as_strategy", zh="统一", en="All")
    draft = services.draft_document(actor=manager, engagement=engagement, kind="AS")
    assert draft.words["as_method"] == {"zh": "专用", "en": "Own"}
    assert draft.words["as_strategy"] == {"zh": "统一", "en": "All"}
    other = Customer.objects.create(name="乙")
    assert standard_text.text_for("as_method", other)[1]["en"] == "General"
    client.force_login(manager)
    path = f"/api/v1/document-texts/as_method/?customer={customer.pk}"
    assert client.get(path).json()["en"] == "Own"
    assert client.get("/api/v1/document-texts/as_method/").json()["en"] == "General"
    assert "Own" in client.get(f"/documents/standard-texts/as_method/?customer={customer.pk}"
                               ).content.decode()
    assert client.delete(path).status_code == 204
    assert client.get(path).json()["en"] == "General"
    assert client.get("/api/v1/document-texts/as_method/?customer=x").status_code == 404


@pytest.mark.slow
def test_documents_of_before_looks_are_set_as_ever(people, delivered):
    draft = services.draft_test_report(actor=people[Role.MANAGER], engagement=delivered)
    facts = {key: value for key, value in draft.snapshot.items() if key != "look"}
    assert render_document(facts, "en").startswith(b"%PDF")
