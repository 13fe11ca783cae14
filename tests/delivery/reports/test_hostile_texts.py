"""Texts that break files: refused by the API, cleaned in forms, harmless where they got through."""

import io
import json
from copy import deepcopy
from xml.etree import ElementTree

import docx
import openpyxl
import pypdf
import pytest
from django.urls import reverse
from hypothesis import given, settings
from hypothesis import strategies as st

from delivery.documents.bilingual import LANGUAGES
from delivery.documents.pdf import html_of
from delivery.reports import registry, rendering, services
from delivery.reports.models import Document
from delivery.reports.services import render_jobs
from engagements.models import Role
from engagements.services.customers import CUSTOMER_FACTS
from engagements.text.printable_text import UNPRINTABLE, printable, unprintable_in
from tests.delivery.reports.test_kinds import CODES, drafted, fewest_kinds
from tests.document_steps import issued_document, reviewed_document

MARKS = ("\x01", "\x0b", "\x1b[31m", "\x85", "\ud800", "\u202e", "\u2066", "\u2028", "\ufffe",
         "\ufeff", "\U0001ffff", "</style><b>", "]]>", "&#1;", "{{ x }}", "=1+1", "\\", "'\"")
HOSTILE = "".join(MARKS)
LONGEST = "长" * 60 + "x" * 60  # with what is hostile in front, as long as a name may be
TEXTS = st.lists(st.characters(codec=None) | st.sampled_from(MARKS), max_size=40).map("".join)


@given(TEXTS)
def test_a_printable_text_fits_every_file(text):
    clean = printable(text)
    assert (printable(clean), unprintable_in(clean)) == (clean, "")
    assert clean.encode().decode() == clean
    element = ElementTree.Element("a")
    element.text = clean
    assert (ElementTree.fromstring(ElementTree.tostring(element)).text or "") == clean


def infested(value, text: str, *, is_shown: bool = False):
    """Facts with the text behind everything that a document shows: names, passages and cells."""
    if isinstance(value, str):
        return value + text if is_shown else value
    if isinstance(value, list):
        return [infested(entry, text, is_shown=is_shown) for entry in value]
    if isinstance(value, dict):
        is_pair = set(value) == set(LANGUAGES)
        return {key: entry if key in ("spec", "look", "signoffs") else
                infested(entry, text, is_shown=is_shown or is_pair or key in ("rows", "name"))
                for key, entry in value.items()}
    return value


@pytest.fixture
def snapshot_of(planned, people):
    return lambda code: drafted(planned, people, code).snapshot


@pytest.mark.slow
def test_the_page_of_every_kind_is_free_of_them_whatever_the_texts_are(snapshot_of):
    snapshots = {code: snapshot_of(code) for code in CODES}

    @settings(max_examples=2)
    @given(TEXTS)
    def holds(text):
        for snapshot in snapshots.values():
            made = infested(deepcopy(snapshot), text + HOSTILE)
            html = html_of(rendering.TEMPLATE, rendering.context_of(made, "en"), "en")
            assert not UNPRINTABLE.search(html)
            html.encode()

    holds()


@pytest.mark.slow
@pytest.mark.parametrize("code", [
    *(enough := fewest_kinds()),
    *(pytest.param(code, marks=pytest.mark.everything) for code in CODES if code not in enough)])
def test_every_file_of_a_kind_opens_in_spite_of_them(snapshot_of, code):
    snapshot = infested(snapshot_of(code), HOSTILE)
    snapshot["customer"]["name"] = dict.fromkeys(LANGUAGES, HOSTILE + LONGEST)
    snapshot["engagement"]["description"] = dict.fromkeys(LANGUAGES, "长" * 4000 + "x" * 6000)
    pages = pypdf.PdfReader(io.BytesIO(rendering.render_document(snapshot, "en"))).pages
    assert "x" * 20 in "".join(page.extract_text() for page in pages)
    opened = {"docx": docx.Document, "xlsx": openpyxl.load_workbook}
    for form, write in registry.get(code).writers.items():
        assert opened[form](io.BytesIO(write(snapshot, "en")))


@pytest.mark.slow
def test_a_customer_s_hostile_name_is_issued_clean(delivered, people, renderer):
    customer = delivered.customer
    customer.name = customer.name_en = "Acme\x01 \u202eLtd"
    customer.save()
    draft = services.draft_test_report(actor=people[Role.MANAGER], engagement=delivered)
    assert draft.snapshot["customer"]["name"]["en"] == "Acme Ltd"
    assert issued_document(draft, people, is_checked=True).state == "issued"


@pytest.mark.slow
def test_what_cannot_be_rendered_is_taken_back_and_its_number_used_again(
        delivered, people, renderer):
    draft = services.draft_test_report(actor=people[Role.MANAGER], engagement=delivered)
    stored = reviewed_document(draft, people)
    stuck = services.order_issue(actor=people[Role.ADMINISTRATOR], document=stored)
    number = stuck.number
    first, second = stuck.render_jobs.all()
    assert services.take_render_job(first.pk)
    renderer.error = RuntimeError("boom")
    for _n in range(render_jobs.MOST_ATTEMPTS):
        services.take_render_job(second.pk)
    back = services.recall_document(actor=people[Role.ADMINISTRATOR], document=stuck)
    assert (back.state, back.number, back.issued_at, back.content_hash) == ("draft", "", None, "")
    assert (back.files.count(), back.render_jobs.count()) == (0, 0)
    assert (back.snapshot["number"], back.snapshot["is_draft"]) == ("", True)
    assert back.steps.last().action == "recall"
    renderer.error = None
    again = issued_document(Document.objects.get(pk=back.pk), people)
    assert (again.state, again.number) == ("issued", number)


def test_the_api_refuses_them_under_the_name_of_the_field(api, engagement):
    url = f"/api/v1/customers/{engagement.customer.pk}/"
    body = json.dumps({"name": "Acme\x01", "note": "\ud800"})
    answer = api(Role.MANAGER).patch(url, body, content_type="application/json")
    assert answer.status_code == 400
    message = json.dumps(answer.json())
    assert [part in message for part in ("U+0001", "U+D800", '"name"')] == [True] * 3
    engagement.customer.refresh_from_db()
    assert "\x01" not in engagement.customer.name


def test_a_form_takes_them_out(client, people, engagement):
    client.force_login(people[Role.MANAGER])
    page = reverse("people:customer", args=[engagement.customer.pk])
    fields = {name: getattr(engagement.customer, name) or "" for name in CUSTOMER_FACTS}
    answer = client.post(page, {**fields, "name": "南方\u202e电力\x0b公司\x02"})
    engagement.customer.refresh_from_db()
    assert (answer.status_code, engagement.customer.name) == (302, "南方电力 公司")


def test_a_filter_of_such_a_character_is_no_filter_left_out(api, engagement):
    answer = api(Role.MANAGER).get("/api/v1/models/", {"engagement": "\x8d"})
    assert answer.status_code == 400
    assert "U+008D" in str(answer.json()["errors"]["engagement"])
