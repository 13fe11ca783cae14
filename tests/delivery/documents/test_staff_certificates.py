"""Certificates of the firm's people: recorded with their scan, warned of, shown in documents."""

from datetime import date, timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override

from delivery.documents.bilingual import in_language
from delivery.documents.models import StaffCertificate
from delivery.documents.services.staff_certificates import add_certificate, remove_certificate
from delivery.reports.facts.people import organisation
from delivery.reports.facts.source import Source
from delivery.reports.models import Document
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import AuditEntry, Role
from tests.delivery.conftest import api_client

pytestmark = pytest.mark.usefixtures("_in_english")
PDF = b"%PDF-1.7\n%%EOF\n"


@pytest.fixture
def _in_english():
    with override("en"):
        yield


@pytest.fixture
def add(people):
    """A consultant's own certificate; fields can be changed."""
    def recorded(**fields) -> StaffCertificate:
        return add_certificate(**{
            "actor": people[Role.CONSULTANT], "person": people[Role.CONSULTANT], "kind": "hcie",
            "title": "AI Solution Architect", "number": "0101", **fields})

    return recorded


def test_a_certificate_is_kept_with_its_scan_and_its_checksum(add, people, client, settings,
                                                             tmp_path):
    settings.MEDIA_ROOT = tmp_path
    row = add(file=SimpleUploadedFile("hcie.exe", PDF))
    assert (str(row), row.file_name) == ("HCIE AI Solution Architect", "hcie.pdf")
    client.force_login(people[Role.SALES])
    answer = client.get(reverse("documents:certificate_file", args=[row.pk]))
    assert b"".join(answer.streaming_content) == PDF
    assert AuditEntry.objects.get(action="certificate.add").data["sha256"] == row.sha256
    client.force_login(people[Role.REVIEWER])
    assert client.get(reverse("documents:certificate_file", args=[row.pk])).status_code == 404


@pytest.mark.parametrize(("fields", "why"), [
    ({"number": " "}, "number"), ({"kind": "x"}, "kind"), ({"kind": "other", "title": ""}, "Name"),
    ({"issued_on": date(2026, 2, 1), "valid_until": date(2026, 1, 1)}, "before"),
    ({"file": SimpleUploadedFile("a.pdf", b"MZ\x90")}, "neither PDF")])
def test_what_is_wrong_is_said(add, fields, why):
    with pytest.raises(InvalidInput, match=why):
        add(**fields)


def test_one_s_own_or_as_an_administrator_anybody_s_but_no_customer_s(add, people):
    with pytest.raises(NotAllowed):
        add(person=people[Role.MANAGER])
    with pytest.raises(InvalidInput):
        add(actor=people[Role.ADMINISTRATOR], person=people[Role.REVIEWER])
    row = add(actor=people[Role.ADMINISTRATOR], person=people[Role.MANAGER])
    with pytest.raises(InvalidInput, match="already"):
        add(actor=people[Role.ADMINISTRATOR], person=people[Role.MANAGER])
    with pytest.raises(NotAllowed):
        remove_certificate(actor=people[Role.CONSULTANT], certificate=row)
    remove_certificate(actor=people[Role.MANAGER], certificate=row)
    assert not StaffCertificate.objects.exists()


def test_what_runs_out_is_warned_of(add, people, client):
    today = timezone.localdate()
    states = {add(number=f"{days}", valid_until=today + timedelta(days)).state: days
              for days in (-1, 59, 60)}
    assert states == {"expired": -1, "expiring": 59, "valid": 60}
    client.force_login(people[Role.SALES])
    page = client.get(reverse("documents:certificates"), headers={"accept-language": "en"})
    assert "2 certificates have expired or end within two months." in page.content.decode()


def test_documents_present_the_team_with_what_is_valid(add, engagement):
    today = timezone.localdate()
    add(valid_until=today + timedelta(400))
    add(kind="pmp", title="", number="7", valid_until=today - timedelta(1))
    table = in_language(organisation(Source(Document(engagement=engagement, kind="SOW"))), "en")
    shown = [row[-1] for row in table["rows"] if row[-1]]
    assert shown == [f"HCIE AI Solution Architect (No. 0101, until {today + timedelta(400)})"]


def test_an_administrator_names_anybody_of_the_firm(people, client, monkeypatch):
    monkeypatch.setattr("engagements.web.offered_choices.MOST_OFFERED", 2)
    page = reverse("documents:certificates")
    client.force_login(people[Role.ADMINISTRATOR])
    shown = client.get(page).content.decode()
    assert f'value="{people[Role.ADMINISTRATOR].username}"' in shown
    assert shown.split("<datalist")[1].split("</datalist>")[0].count("<option") == 2
    data = {"kind": "pmp", "number": "77"}
    for name in (people[Role.REVIEWER].username, "nobody"):
        assert client.post(page, {**data, "person": name}).status_code == 200
    assert client.post(page, {**data, "person": people[Role.SALES].username}).status_code == 302
    client.force_login(people[Role.CONSULTANT])
    assert client.post(page, {**data, "person": people[Role.SALES].username}).status_code == 200
    assert [row.person for row in StaffCertificate.objects.all()] == [people[Role.SALES]]


def test_the_api_takes_and_lists_them(people):
    client = api_client(people[Role.CONSULTANT])
    made = client.post("/api/v1/staff-certificates/", {
        "person": people[Role.CONSULTANT].pk, "kind": "pmp", "number": "77"}, format="json")
    assert (made.status_code, made.json()["state"]) == (201, "valid")
    assert api_client(people[Role.REVIEWER]).get("/api/v1/staff-certificates/").json()[
        "count"] == 0
    gone = client.delete(f"/api/v1/staff-certificates/{made.json()['id']}/")
    assert gone.status_code == 204
