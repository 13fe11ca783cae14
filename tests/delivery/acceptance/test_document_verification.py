"""The public page: number and checksum belong together, or not; nothing else."""

import re
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.cache import CacheHandler, cache

from delivery.acceptance import document_verification
from delivery.reports.models import Document
from engagements.web import address_limit


@pytest.fixture(autouse=True)
def _fresh_counts():
    cache.clear()


def ask(client, number, digest, **extra):
    return client.get("/verify/", {"number": number, "hash": digest}, **extra)


def body(answer) -> str:
    """The page without what was typed, and without tokens that change with every page."""
    text = re.sub(r'value="[^"]*"', "", answer.content.decode())
    return re.sub(r"<form.*?</form>|hx-headers='[^']*'", "", text, flags=re.S)


def test_anybody_may_ask_without_logging_in(client, review):
    document = review.document
    page = ask(client, document.number, document.content_hash).content.decode()
    assert f"{document.number} V1.0" in page
    assert client.get("/verify/").status_code == 200


@pytest.mark.parametrize("spoil", [str, str.upper, lambda text: f" {text} "])
def test_the_checksum_of_a_file_does_as_well(client, review, spoil):
    stored = review.document.files.first()
    answer = document_verification.verify_document(review.document.number, spoil(stored.sha256))
    assert (answer.version, answer.is_replaced, answer.is_signed) == (1, False, False)


def test_an_unknown_number_and_a_wrong_checksum_get_the_same_answer(client, review):
    number, digest = review.document.number, review.document.content_hash
    wrong = body(ask(client, number, "a" * 64))
    assert wrong == body(ask(client, "FA-XX-20250101-001", digest))
    assert wrong == body(ask(client, "FA-XX-20250101-001", "b" * 64))
    assert body(ask(client, number, digest)) != wrong


def test_a_draft_has_no_number_to_find(delivered, people):
    assert document_verification.verify_document("", "0" * 64) is None
    Document.objects.filter(state="draft").update(content_hash="")
    assert document_verification.verify_document("", "") is None


def test_nothing_else_is_revealed(client, review):
    document = review.document
    page = ask(client, document.number, document.content_hash).content.decode()
    engagement = document.engagement
    for secret in (engagement.name, engagement.name_en, engagement.customer.name,
                   engagement.contract_number, "LLM", "/documents/", "/engagements/"):
        assert secret not in page
    assert "no-store" in ask(client, document.number, "a" * 64)["Cache-Control"]


def test_a_replaced_version_says_so(client, review):
    document = review.document
    Document.objects.filter(pk=document.pk).update(state="superseded")
    answer = document_verification.verify_document(document.number, document.content_hash)
    assert answer.is_replaced


@pytest.mark.slow
@pytest.mark.parametrize(("decision", "colour", "words"), [
    ("accepted", "success", "Passed"), ("rejected", "danger", "Failed")])
def test_what_was_signed_is_said_and_nothing_before(client, review, act, decision, colour, words):
    document = review.document
    api = "/api/v1/verification/"
    asked = {"number": document.number, "hash": document.content_hash}
    act.decide(review, decision, reason="未测")
    before = ask(client, *asked.values(), HTTP_ACCEPT_LANGUAGE="en").content.decode()
    assert ("The customer's decision" in before, client.get(api, asked).json()["found"]["decision"]
            ) == (False, "")
    act.sign(review)
    page = ask(client, *asked.values(), HTTP_ACCEPT_LANGUAGE="en").content.decode()
    assert f'alert alert-{colour}"' in page
    assert f"The customer's decision: <strong>{words}</strong>" in page
    assert client.get(api, asked).json()["found"]["decision"] == decision


@pytest.mark.slow
@pytest.mark.parametrize(("decision", "colour", "state", "words"), [
    ("accepted", "green", "Signed: Passed", "Passed"),
    ("rejected", "red", "Signed: Failed", "Failed")])
def test_a_list_of_documents_says_what_was_signed(
        client, review, act, people, decision, colour, state, words):
    act.decide(review, decision, reason="未测")
    act.sign(review)
    client.force_login(act.manager)
    page = client.get(f"/engagements/{review.engagement.code}/documents/",
                      HTTP_ACCEPT_LANGUAGE="en").content.decode()
    row = page[page.index(review.document.number):]
    tags = re.findall(r'bg-(\w+)-lt">.*?<span>([^<]*)</span>', row[:row.index("</tr>")], re.S)
    assert (colour, state) in tags
    assert (colour, words) in tags


def test_an_address_that_asks_too_often_waits(client, review, monkeypatch):
    monkeypatch.setattr(document_verification, "MAX_REQUESTS_PER_MINUTE", 3)
    status = [ask(client, "x", "a" * 64).status_code for _n in range(5)]
    assert status.count(429) >= 1
    assert ask(client, "x", "a" * 64, REMOTE_ADDR="10.9.9.9").status_code == 200
    assert client.get("/verify/").status_code == 200  # the empty form costs nothing


def test_all_processes_count_an_addresss_turns_together(settings, monkeypatch):
    """Each of them has a connection to the cache of its own, and keeps no count itself."""
    monkeypatch.setattr(document_verification, "MAX_REQUESTS_PER_MINUTE", 3)
    monkeypatch.setattr(address_limit, "time", SimpleNamespace(time=lambda: 0.0))  # one minute
    caches = CacheHandler(settings.CACHES), CacheHandler(settings.CACHES)
    turns = []
    for one in (*caches, *caches):
        monkeypatch.setattr(address_limit, "cache", one["default"])
        turns.append(document_verification.is_within_rate_limit("10.1.1.1"))
    assert turns == [True, True, True, False]


def test_the_code_on_the_cover_leads_to_the_page(settings, review):
    settings.PUBLIC_URL = "https://desk.example/"
    url = document_verification.verification_url(review.document.number,
                                                 review.document.content_hash)
    query = parse_qs(urlsplit(url).query)
    assert url.startswith("https://desk.example/verify/?")
    assert (query["number"], query["hash"]) == ([review.document.number],
                                               [review.document.content_hash])
    assert document_verification.verification_code("x", "y").startswith("data:image/svg+xml")


def test_the_language_changes_without_logging_in(client, db):
    answer = client.post("/i18n/setlang/", {"language": "en", "next": "/verify/"})
    assert answer.url == "/verify/"
    assert "Verify a document" in client.get("/verify/").content.decode()
