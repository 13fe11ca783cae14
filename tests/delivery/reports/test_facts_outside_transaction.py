"""Files are read for a draft's facts before its transaction begins: on SQLite every other writer
waits for the one that holds the lock."""

import pytest
from django.db import connection

from delivery.reports import services
from delivery.reports.issue_checks import checks
from delivery.reports.models import Document
from delivery.reports.services import approvals, drafts
from engagements.models import Role
from tests.document_steps import reviewed_document

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def collecting(monkeypatch) -> list[bool]:
    """Whether a transaction was open, of each time that facts were collected."""
    found, collect = [], drafts.collect

    def noting(document, *, now):
        found.append(connection.in_atomic_block)
        return collect(document, now=now)

    for module in (drafts, approvals):
        monkeypatch.setattr(module, "collect", noting)
    return found


def test_no_transaction_is_open_while_facts_are_collected(people, engagement, collecting):
    manager = people[Role.MANAGER]
    draft = services.draft_test_report(actor=manager, engagement=engagement)
    services.refresh_draft(actor=manager, document=draft)
    code = next(iter(draft.words))
    written = services.write_words(actor=manager, document=draft,
                                   words={code: {"zh": "范围", "en": "Scope"}})
    assert written.snapshot["words"][code]["text"]["en"] == "Scope"
    assert collecting == [False] * 3


def test_a_document_that_is_being_issued_is_taken_back_with_new_facts(
        people, engagement, collecting, monkeypatch):
    monkeypatch.setattr(checks, "problems_of", lambda _document: [])
    draft = services.draft_test_report(actor=people[Role.MANAGER], engagement=engagement)
    services.order_issue(actor=people[Role.ADMINISTRATOR],
                         document=reviewed_document(draft, people))
    document = Document.objects.get()
    assert document.state == Document.State.ISSUING
    document.render_jobs.update(state="failed", error="x")
    taken = services.recall_document(actor=people[Role.ADMINISTRATOR], document=document)
    assert (taken.state, taken.number, taken.snapshot["number"]) == ("draft", "", "")
    assert collecting == [False] * 2
