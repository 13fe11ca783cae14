"""What stands in the way of issuing is a part of the document's page that comes after it."""

import pytest
from django.urls import reverse

from delivery.reports.models import Document
from engagements.models import Role
from tests.document_steps import issued_document, reviewed_document

PDF = b"%PDF-1.7 short"
ENGLISH = {"accept-language": "en"}
BUTTON = 'id="issue-button" hx-swap-oob="true"'


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr("delivery.reports.rendering.render_document", lambda *a, **k: PDF)


def part(client, document: Document):
    return client.get(reverse("reports:problems", args=[document.pk]), headers=ENGLISH)


@pytest.mark.slow
def test_the_page_asks_for_the_part_and_the_part_blocks_the_button(report, people, client):
    reviewed_document(report, people)
    client.force_login(people[Role.ADMINISTRATOR])
    page = client.get(reverse("reports:document", args=[report.pk])).content.decode()
    assert f'hx-get="{reverse("reports:problems", args=[report.pk])}"' in page
    assert 'id="issue-button"' in page
    assert "Checked: nothing stands in the way" in part(client, report).content.decode()
    report.engagement.contract_number = ""
    report.engagement.save()
    found = part(client, report).content.decode()
    assert "Fill in the contract number." in found
    assert BUTTON in found
    assert "disabled" in found
    assert reverse("engagements:edit", args=[report.engagement.code]) in found


def test_who_cannot_issue_sees_the_problems_without_a_button(report, people, client):
    report.engagement.contract_number = ""
    report.engagement.save()
    client.force_login(people[Role.CONSULTANT])
    found = part(client, report).content.decode()
    assert "Fill in the contract number." in found
    assert BUTTON not in found


@pytest.mark.slow
def test_an_issued_document_has_no_such_part(report, people, client):
    document = issued_document(report, people)
    client.force_login(people[Role.MANAGER])
    assert part(client, document).status_code == 404
    page = client.get(reverse("reports:document", args=[document.pk])).content.decode()
    assert reverse("reports:problems", args=[document.pk]) not in page
