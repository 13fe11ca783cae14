"""What stands in the way of issuing is a part of the document's page that comes after it."""

import pytest
from django.urls import reverse

from delivery.reports import services
from delivery.reports.models import Document
from engagements.models import Role
from tests.cached_fixtures import cached_fixture
from tests.document_steps import issued_document, reviewed_document

PDF = b"%PDF-1.7 short"
ENGLISH = {"accept-language": "en"}
BUTTON = 'id="issue-button" hx-swap-oob="true"'


@pytest.fixture(autouse=True)
def _short(monkeypatch):
    monkeypatch.setattr("delivery.reports.rendering.render_document", lambda *a, **k: PDF)


@pytest.fixture
@cached_fixture
def draft(delivered, people) -> Document:
    return services.draft_test_report(actor=people[Role.MANAGER], engagement=delivered)


def part(client, document: Document):
    return client.get(reverse("reports:problems", args=[document.pk]), headers=ENGLISH)


def test_the_page_asks_for_the_part_and_the_part_blocks_the_button(draft, people, client):
    reviewed_document(draft, people)
    client.force_login(people[Role.ADMINISTRATOR])
    page = client.get(reverse("reports:document", args=[draft.pk])).content.decode()
    assert f'hx-get="{reverse("reports:problems", args=[draft.pk])}"' in page
    assert 'id="issue-button"' in page
    assert "Checked: nothing stands in the way" in part(client, draft).content.decode()
    draft.engagement.contract_number = ""
    draft.engagement.save()
    found = part(client, draft).content.decode()
    assert "Fill in the contract number." in found
    assert BUTTON in found
    assert "disabled" in found
    assert reverse("engagements:edit", args=[draft.engagement.code]) in found


def test_who_cannot_issue_sees_the_problems_without_a_button(draft, people, client):
    draft.engagement.contract_number = ""
    draft.engagement.save()
    client.force_login(people[Role.CONSULTANT])
    found = part(client, draft).content.decode()
    assert "Fill in the contract number." in found
    assert BUTTON not in found


def test_an_issued_document_has_no_such_part(draft, people, client):
    document = issued_document(draft, people)
    client.force_login(people[Role.MANAGER])
    assert part(client, document).status_code == 404
    page = client.get(reverse("reports:document", args=[document.pk])).content.decode()
    assert reverse("reports:problems", args=[document.pk]) not in page
