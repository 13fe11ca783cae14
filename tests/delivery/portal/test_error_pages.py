"""Pages for what went wrong: each says what happened and what to do, in the reader's language."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from engagements.models import AuditEntry, Role


@pytest.fixture
def manager(client, people):
    client.force_login(people[Role.MANAGER])
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    return client


def test_a_form_that_was_open_too_long(people):
    client = Client(enforce_csrf_checks=True, headers={"accept-language": "en"})
    client.force_login(people[Role.MANAGER])
    answer = client.post("/engagements/new/", {"code": "X"},
                         headers={"referer": "http://testserver/engagements/new/"})
    page = answer.content.decode()
    assert answer.status_code == 403
    assert "data-desk-interrupted" in page
    assert 'href="http://testserver/engagements/new/"' in page


def test_an_address_that_only_takes_entries(manager):
    answer = manager.get("/logout/")
    assert (answer.status_code, answer["Allow"]) == (405, "POST, OPTIONS")
    assert "only accepts form submissions" in answer.content.decode()


def test_more_fields_than_the_portal_takes(manager, settings):
    settings.DATA_UPLOAD_MAX_NUMBER_FIELDS = 3
    answer = manager.post("/engagements/new/", {f"f{n}": "x" for n in range(9)},
                          headers={"referer": "http://testserver/engagements/new/"})
    page = answer.content.decode()
    assert answer.status_code == 413
    assert "Too much data at once" in page
    assert 'href="http://testserver/engagements/new/"' in page


def test_a_file_that_is_too_large_is_named_with_the_limit(manager, engagement, settings):
    settings.UPLOAD_LIMIT_BYTES = 2**20
    answer = manager.post(f"/scans/new/?engagement={engagement.code}", {
        "upload": SimpleUploadedFile("source.zip", bytes(2**20 + 1))})
    assert answer.status_code == 200
    assert "source.zip is larger than 1 MB" in answer.content.decode()


@pytest.mark.parametrize(("headers", "page"), [
    ({"referer": "http://testserver/engagements/?q=a"}, "/engagements/%3Fq%3Da"),
    ({"referer": "http://elsewhere.example/x"}, "/"), ({}, "/")])
def test_the_sign_in_leads_back_to_the_page_not_to_the_door(client, db, headers, page):
    answer = client.post(reverse("quotes:new", args=["EP1"]), headers=headers)
    assert (answer.status_code, answer.url) == (302, f"/login/?next={page}")


def test_a_fragment_asks_the_browser_for_the_sign_in(client, db):
    answer = client.get("/jobs/1/", headers={
        "HX-Request": "true", "HX-Current-URL": "http://testserver/jobs/1/"})
    assert (answer.status_code, answer["HX-Redirect"]) == (200, "/login/?next=/jobs/1/")


def test_ones_own_password(manager, people):
    page = {"old_password": "Trial-2026!", "new_password1": "Wechsel-4711!",
            "new_password2": "Wechsel-4711!"}
    weak = {**page, "new_password1": "12345678", "new_password2": "12345678"}
    assert manager.post("/password/", {**page, "old_password": "wrong"}).status_code == 200
    assert manager.post("/password/", weak).status_code == 200
    assert not AuditEntry.objects.filter(action="user.password").exists()
    assert manager.post("/password/", page).url == "/"
    assert manager.get("/").status_code == 200  # still signed in
    person = people[Role.MANAGER]
    person.refresh_from_db()
    assert person.check_password("Wechsel-4711!")
    entry = AuditEntry.objects.get(action="user.password")
    assert (entry.actor, "Wechsel" in str(entry.data)) == (person, False)
