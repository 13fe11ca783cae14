"""Of some rows only one may be open: the database says so, and the loser of a race is told so."""

import threading
from collections import Counter
from datetime import date
from importlib import import_module

import pytest
from django.apps import apps
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from assessments.models import CriteriaSet
from assessments.services import criteria
from delivery.acceptance.models import ThirdPartyReport
from delivery.acceptance.services import third_party_reports
from delivery.planning.models import EffortEstimate, Timesheet
from delivery.planning.services import time_entries
from delivery.quotes.models import Quote
from delivery.reports.models import ApprovalTurn, Document
from delivery.reports.services import drafts
from engagements.models import AuditEntry, Role
from tests.delivery.acceptance.services.test_third_party_reports import GIVEN
from tests.delivery.conftest import api_client
from tests.delivery.review_steps import SHORT

AT_ONCE = 6
MONTH = "2025-07-01"


def document(engagement, people, **fields):
    return Document(engagement=engagement, kind="TR", created_by=people[Role.MANAGER], **fields)


def turn(engagement, people):
    owner = Document.objects.first() or document(engagement, people)
    owner.save()
    return ApprovalTurn(document=owner, position=1, title="x", holder=people[Role.CONSULTANT])


def correction(engagement, people):
    issued = Document.objects.filter(number="TR-1").first() or document(
        engagement, people, number="TR-1", state="issued", issued_at=timezone.now())
    issued.save()
    return document(engagement, people, replaces=issued)


def timesheet(engagement, people):
    return Timesheet(engagement=engagement, month=MONTH, number=Timesheet.objects.count() + 1,
                     content_hash="x", confirmed_by=people[Role.MANAGER])


@pytest.mark.parametrize(("name", "row"), [
    ("one_open_draft_per_kind", document), ("one_open_correction", correction),
    ("one_open_turn_per_holder", turn),
    ("one_criteria_draft", lambda engagement, _people: CriteriaSet(
        engagement=engagement, version=CriteriaSet.objects.count() + 1)),
    ("one_estimate_draft", lambda engagement, people: EffortEstimate(
        engagement=engagement, version=EffortEstimate.objects.count() + 1,
        created_by=people[Role.MANAGER])),
    ("one_waiting_timesheet", timesheet)])
def test_the_database_holds_one_open_row(name, row, engagement, people):
    row(engagement, people).save()
    second = row(engagement, people)
    [constraint] = [c for c in type(second)._meta.constraints if c.name == name]
    with pytest.raises(ValidationError, match=name):
        constraint.validate(type(second), second)
    with pytest.raises(IntegrityError, match=rf"UNIQUE|{name}"), transaction.atomic():
        second.save()


def race(people, post) -> Counter:
    """How often the same request, sent at once by several and then once more, was answered how."""
    answers, errors, barrier = [], [], threading.Barrier(AT_ONCE)

    def ask():
        try:
            client = api_client(people[Role.MANAGER])
            barrier.wait(timeout=30)
            answers.append(post(client).status_code)
        except Exception as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=ask) for _n in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    answers.append(post(api_client(people[Role.MANAGER])).status_code)
    return Counter(answers)


@pytest.fixture
def together(monkeypatch):
    """Lets all writers pass a check before any of them inserts. On SQLite those that check in their
    transaction have to wait for each other."""
    def delay(module, name: str, *, in_transaction: bool = True) -> None:
        if in_transaction and connection.vendor == "sqlite":
            return
        check, barrier = getattr(module, name), threading.Barrier(AT_ONCE)

        def checked(*arguments):
            check(*arguments)
            barrier.wait(timeout=30)

        monkeypatch.setattr(module, name, checked)

    return delay


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_one_draft_of_a_kind_is_begun_by_many(together, engagement, people):
    together(drafts, "_require_none_open", in_transaction=False)
    found = race(people, lambda client: client.post(
        "/api/v1/documents/", {"engagement": engagement.code, "kind": "TR"}))
    assert found == {201: 1, 409: AT_ONCE}
    assert Document.objects.count() == 1
    assert AuditEntry.objects.filter(action="document.draft").count() == 1


@pytest.mark.django_db(transaction=True)
def test_one_criteria_draft_is_begun_by_many(together, engagement, people):
    together(criteria, "_require_no_draft")
    found = race(people, lambda client: client.post(
        "/api/v1/criteria-sets/", {"engagement": engagement.pk}))
    assert found == {201: 1, 409: AT_ONCE}
    assert CriteriaSet.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_one_report_of_a_laboratory_is_attached_by_many(together, engagement, people):
    together(third_party_reports, "_require_none_attached")
    found = race(people, lambda client: client.post("/api/v1/third-party-reports/", {
        **GIVEN, "engagement": engagement.code, "file": SimpleUploadedFile("r.pdf", SHORT)},
        format="multipart"))
    assert found == {201: 1, 400: AT_ONCE}
    assert ThirdPartyReport.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_one_next_version_of_a_quote_is_begun_by_many(firm, quoted, people):
    found = race(people, lambda client: client.post(
        f"/api/v1/quotes/{quoted.pk}/versions/", {"reason": "r"}))
    assert found == {201: 1, 409: AT_ONCE}
    assert Quote.objects.filter(state="draft").count() == 1


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_one_estimate_and_one_timesheet_are_begun_by_many(engagement, llm, people):
    time_entries.record_time(actor=people[Role.CONSULTANT], engagement=engagement, half="am",
                             work_date=date(2025, 7, 1), item="env", grade="engineer")
    for address, fields, table in (
            ("effort-estimates", {}, EffortEstimate), ("timesheets", {"month": MONTH}, Timesheet)):
        found = race(people, lambda client, to=address, more=fields: client.post(
            f"/api/v1/{to}/", {"engagement": engagement.pk, **more}))
        assert found == {201: 1, 409: AT_ONCE}
        assert table.objects.count() == 1


def test_drafts_that_were_open_side_by_side_are_kept_and_numbered(engagement, people):
    """As the migration finds them; the newest keeps 0, which every new one has."""
    with connection.cursor() as cursor:
        for name in ("one_open_draft_per_kind", "one_open_correction"):
            cursor.execute(f"DROP INDEX {name}")
    rows = [row(engagement, people) for row in (document, correction) for _n in range(3)]
    rows.append(Document(engagement=engagement, kind="FA", created_by=people[Role.MANAGER]))
    for row in rows:
        row.save()
    import_module("delivery.reports.migrations.0007_one_open_only").number_duplicates(apps, None)
    assert [Document.objects.get(pk=row.pk).duplicate for row in rows] == [2, 1, 0, 2, 1, 0, 0]
    assert not Document.objects.get(number="TR-1").duplicate
