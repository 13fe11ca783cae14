"""The files of an issued quote: stored once after the commit, and never rendered again."""

import hashlib
import logging
from itertools import product
from pathlib import Path

import pytest
from celery.canvas import Signature
from django.contrib.messages import get_messages
from django.core.files.storage import default_storage
from django.urls import reverse

from delivery.documents.issued_files import FileDamaged, FileNotReady
from delivery.documents.services.branding import save_branding
from delivery.documents.services.company import save_company
from delivery.notices.models import Event
from delivery.quotes import quote_files, services, tasks
from delivery.quotes.models import Quote, QuoteFile
from delivery.quotes.quote_files import quote_file
from engagements.models import AuditEntry, Role
from tests.cached_fixtures import cached_fixture

LANGUAGES, FORMATS = ("zh-hans", "en"), ("pdf", "xlsx")
EVERY_FILE = set(product(LANGUAGES, FORMATS))


def retained(quote) -> set:
    return set(quote.files.values_list("language", "format"))


def files_on_disk() -> int:
    return sum(path.is_file() for path in Path(default_storage.location).rglob("*"))


@pytest.fixture
def quick(monkeypatch):
    """Renderers that print number and language; the list of their calls."""
    calls = []

    def render(form):
        return lambda quote, language: calls.append((quote.pk, language, form)) or (
            f"{quote} {language} {form}".encode())

    for form in FORMATS:
        monkeypatch.setitem(quote_files.RENDERERS, form, render(form))
    return calls


@pytest.fixture
@cached_fixture
def ready(people, quote):
    """A quote that is approved, its files not made yet."""
    sales = people[Role.SALES]
    services.update_quote(actor=sales, quote=quote, source_note="以各行为准")
    services.submit_quote(actor=sales, quote=quote)
    services.review_quote(actor=people[Role.CONSULTANT], quote=quote)
    return services.approve_quote(actor=people[Role.MANAGER], quote=quote)


@pytest.fixture
def messages(monkeypatch):
    """What was sent to the queue: (task, arguments)."""
    sent = []
    monkeypatch.setattr(Signature, "apply_async", lambda self, **_options: sent.append(
        (self.task, self.args)))
    return sent


@pytest.fixture
def issued(people, ready):
    return services.issue_quote(actor=people[Role.SALES], quote=ready)


def test_issue_asks_for_the_files_after_the_commit(
        people, ready, quick, messages, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        services.issue_quote(actor=people[Role.SALES], quote=ready)
        assert messages == []
    assert messages == [("quotes.store_files", (ready.pk,))]
    tasks.store_files(ready.pk)
    assert retained(ready) == EVERY_FILE


def test_each_file_has_size_checksum_and_an_entry_in_the_log(issued, quick):
    assert services.store_quote_files(issued.pk) == 4
    for entry in issued.files.all():
        data = f"{issued} {entry.language} {entry.format}".encode()
        assert (entry.file.read(), entry.size, entry.sha256) == (
            data, len(data), hashlib.sha256(data).hexdigest())
    logged = AuditEntry.objects.filter(action="quote.file", target_id=str(issued.pk))
    assert {entry.data["sha256"] for entry in logged} == set(
        issued.files.values_list("sha256", flat=True))
    assert {entry.engagement for entry in logged} == {issued.engagement}


def test_a_message_that_comes_twice_stores_nothing_twice(issued, quick):
    assert [services.store_quote_files(issued.pk) for _ in range(2)] == [4, 0]
    assert (len(quick), files_on_disk()) == (4, 4)


def test_no_files_of_what_is_not_issued(ready, quick):
    assert services.store_quote_files(ready.pk) == 0
    assert (quick, QuoteFile.objects.count()) == ([], 0)


def test_who_loses_a_race_leaves_no_file(issued, quick, monkeypatch):
    """Another worker stores all files while the first one of this worker is being made."""
    render = quote_files.RENDERERS["pdf"]

    def slow(quote, language):
        monkeypatch.setitem(quote_files.RENDERERS, "pdf", render)
        assert services.store_quote_files(quote.pk) == 4
        return b"made later"

    monkeypatch.setitem(quote_files.RENDERERS, "pdf", slow)
    assert services.store_quote_files(issued.pk) == 0
    assert (retained(issued), files_on_disk()) == (EVERY_FILE, 4)
    assert b"made later" not in {entry.file.read() for entry in issued.files.all()}
    assert AuditEntry.objects.filter(action="quote.file").count() == 4


def test_the_sweep_finds_what_is_missing(people, issued, quick, messages):
    """Also quotes that were issued before files were stored, and those issued no more."""
    second = services.new_version(actor=people[Role.SALES], quote=issued, reason="x")
    tasks.sweep()
    assert messages == [("quotes.store_files", (issued.pk,))]
    services.store_quote_files(issued.pk)
    issued.files.first().delete()
    Quote.objects.filter(pk=issued.pk).update(state=Quote.State.SUPERSEDED)
    tasks.sweep()
    assert messages == [("quotes.store_files", (issued.pk,))] * 2
    services.store_quote_files(issued.pk)
    tasks.sweep()
    assert (len(messages), retained(second)) == (2, set())


def test_a_file_that_cannot_be_made_does_not_stop_the_others(issued, quick, monkeypatch, caplog):
    def fail(quote, language):
        raise ZeroDivisionError

    monkeypatch.setitem(quote_files.RENDERERS, "xlsx", fail)
    with caplog.at_level(logging.ERROR):
        assert services.store_quote_files(issued.pk) == 2
    assert retained(issued) == {(language, "pdf") for language in LANGUAGES}
    assert sum(str(issued) in record.getMessage() for record in caplog.records) == 2


def test_people_are_told_of_a_file_that_can_never_be_made(
        client, api, people, issued, quick, monkeypatch):
    """Page and download name cause and tries; the third failure is a notice; a success ends it."""
    good = quote_files.RENDERERS["xlsx"]
    monkeypatch.setitem(quote_files.RENDERERS, "xlsx", lambda *_row: 1 // 0)
    for _n in range(4):
        services.store_quote_files(issued.pk)
    answer = api(Role.SALES).get(f"/api/v1/quotes/{issued.pk}/xlsx/")
    assert (answer.status_code, answer.json()["title"]) == (409, "file_failed")
    assert "ZeroDivisionError" in answer.json()["detail"]
    client.force_login(people[Role.SALES])
    page = reverse("quotes:quote", args=[issued.pk])
    english = {"accept-language": "en"}
    assert "tried 4 times" in client.get(page, headers=english).content.decode()
    entries = AuditEntry.objects.filter(action="issued_file.fail")
    assert sorted(entry.data["language"] for entry in entries) == ["en", "zh-hans"]
    event = Event.objects.filter(kind="file_failed").first()
    assert (event.engagement, event.path) == (issued.engagement, page)
    monkeypatch.setitem(quote_files.RENDERERS, "xlsx", good)
    services.store_quote_files(issued.pk)
    assert "could not be generated" not in client.get(page, headers=english).content.decode()


def test_the_version_of_a_change_order_gets_files_too(
        people, issued, quick, messages, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        made = services.agree_on_version(
            actor=people[Role.MANAGER], author=people[Role.CONSULTANT],
            customer=people[Role.REVIEWER], quote=issued, changes=[], reason="CR-1")
    assert ("quotes.store_files", (made.pk,)) in messages
    services.store_quote_files(made.pk)
    assert retained(made) == EVERY_FILE


@pytest.mark.parametrize("form", FORMATS)
def test_the_api_says_that_a_file_is_being_made(api, issued, form):
    answer = api(Role.REVIEWER).get(f"/api/v1/quotes/{issued.pk}/{form}/")
    assert (answer.status_code, answer["Retry-After"], answer.json()["title"]) == (
        409, "10", "file_not_ready")


@pytest.mark.parametrize("form", FORMATS)
def test_the_page_says_that_a_file_is_being_made(client, people, issued, form):
    client.force_login(people[Role.REVIEWER])
    answer = client.get(reverse(f"quotes:{form}", args=[issued.pk, "en"]),
                        headers={"accept-language": "en"})
    assert answer.url == reverse("quotes:quote", args=[issued.pk])
    messages = [str(message) for message in get_messages(answer.wsgi_request)]
    assert ["being generated" in message for message in messages] == [True]


def test_a_download_never_renders_again(client, api, people, issued, quick):
    """Page and API give the stored bytes, whatever the firm's looks and programs have become."""
    services.store_quote_files(issued.pk)
    stored = {(e.language, e.format): e.file.read() for e in issued.files.all()}
    calls = len(quick)
    save_branding(actor=people[Role.ADMINISTRATOR], customer=None, colour="#0a5c36")
    save_company(actor=people[Role.MANAGER], name="另一家公司")
    client.force_login(people[Role.REVIEWER])
    for (language, form), data in stored.items():
        page = client.get(reverse(f"quotes:{form}", args=[issued.pk, language]))
        answer = api(Role.REVIEWER).get(f"/api/v1/quotes/{issued.pk}/{form}/?language={language}")
        assert page.content == answer.content == data
    assert len(quick) == calls
    downloads = AuditEntry.objects.filter(action="file.download", target_id=str(issued.pk))
    assert (downloads.count(), {d.target_type for d in downloads}) == (8, {"quotes.quote"})


@pytest.mark.slow
def test_stored_files_are_the_real_ones(issued):
    services.store_quote_files(issued.pk)
    assert {entry.format: entry.file.read(4) for entry in issued.files.all()} == {
        "pdf": b"%PDF", "xlsx": b"PK\x03\x04"}


def test_a_changed_or_missing_file_is_not_handed_out(client, people, issued, quick):
    services.store_quote_files(issued.pk)
    entry = issued.files.get(language="en", format="pdf")
    Path(entry.file.path).write_bytes(b"changed")
    with pytest.raises(FileDamaged, match="checksum differs"):
        quote_file(issued, "en")
    Path(entry.file.path).unlink()
    client.force_login(people[Role.SALES])
    assert client.get(reverse("quotes:pdf", args=[issued.pk, "en"])).status_code == 302


def test_a_draft_is_rendered_on_request(ready, quick):
    assert quote_file(ready, "en", "xlsx") == f"{ready} en xlsx".encode()
    assert quote_file(ready, "en") == f"{ready} en pdf".encode()
    assert len(quick) == 2


def test_page_and_api_show_the_checksums(client, people, issued, quick):
    client.force_login(people[Role.REVIEWER])
    page, detail = reverse("quotes:quote", args=[issued.pk]), f"/api/v1/quotes/{issued.pk}/"
    asks_again = 'hx-select="#files"'
    assert asks_again in client.get(page).content.decode()
    assert client.get(detail).json()["files"] == []
    services.store_quote_files(issued.pk)
    shown = client.get(page).content.decode()
    assert asks_again not in shown
    assert [e.sha256 in shown for e in issued.files.all()] == [True] * 4
    assert {(f["language"], f["format"], f["sha256"]) for f in client.get(detail).json()["files"]
            } == set(issued.files.values_list("language", "format", "sha256"))


def test_until_then_there_is_no_file(issued):
    with pytest.raises(FileNotReady):
        quote_file(issued, "en")
