"""Which entry of the audit log holds a row, where savepoints take a part of a transaction back."""

import pytest
from django.db import IntegrityError, transaction

from engagements.audit import audit_log
from engagements.audit_rows.tracking import pending_writes
from engagements.models import AuditEntry, Membership, Role

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def row(engagement):
    return Membership.objects.first()


def write(row, role=Role.SALES):
    Membership.objects.filter(pk=row.pk).update(role=role)


def record(row, people):
    return audit_log.record(actor=people[Role.MANAGER], action="member.add", target=row)


def roles_since(before: int) -> list[tuple[str, str]]:
    """Action of each entry, and the role that it holds of the one membership; empty without."""
    return [(entry.action, next((columns["role"] for columns in
                                 entry.rows.get("engagements.membership", {}).values()), ""))
            for entry in AuditEntry.objects.order_by("pk")[before:]]


def test_an_entry_in_a_savepoint_holds_what_was_written_before_it(row, people):
    before = AuditEntry.objects.count()
    with transaction.atomic():
        write(row)
        with transaction.atomic():
            record(row, people)
    assert roles_since(before) == [("member.add", Role.SALES)]
    assert list(audit_log.row_differences()) == []


def test_the_next_entry_holds_what_a_lost_one_held(row, people):
    before = AuditEntry.objects.count()
    with transaction.atomic():
        write(row)
        with transaction.atomic():
            record(row, people)
            transaction.set_rollback(True)
        record(row, people)
    assert roles_since(before) == [("member.add", Role.SALES)]
    assert list(audit_log.row_differences()) == []


def test_while_the_exception_is_handled_that_took_an_entry_back(row, people):
    before = AuditEntry.objects.count()
    with transaction.atomic():
        write(row)
        try:
            with transaction.atomic():
                record(row, people)
                raise IntegrityError
        except IntegrityError:
            record(row, people)
    assert roles_since(before) == [("member.add", Role.SALES)]
    assert list(audit_log.row_differences()) == []


def test_while_the_exception_is_handled_with_which_an_entry_failed(row, people, monkeypatch):
    before = AuditEntry.objects.count()

    def fails():
        raise IntegrityError

    with transaction.atomic():
        write(row)
        try:
            with transaction.atomic(), monkeypatch.context() as broken:
                broken.setattr(audit_log, "locked_chain", fails)
                record(row, people)
        except IntegrityError:
            record(row, people)
    assert roles_since(before) == [("member.add", Role.SALES)]


def test_a_write_that_is_taken_back_is_in_no_entry(row, people):
    before, old = AuditEntry.objects.count(), row.role
    with transaction.atomic():
        with transaction.atomic():
            write(row)
            transaction.set_rollback(True)
        assert pending_writes() == []
        record(row, people)
    assert roles_since(before) == [("member.add", "")]
    row.refresh_from_db()
    assert row.role == old
    assert list(audit_log.row_differences()) == []


def test_a_write_behind_the_last_entry_gets_its_own(row, people):
    before = AuditEntry.objects.count()
    with transaction.atomic():
        write(row)
        record(row, people)
        write(row, Role.OPERATOR)
    assert roles_since(before) == [("member.add", Role.SALES), ("row.write", Role.OPERATOR)]


def test_each_row_that_no_entry_holds_gets_its_own(engagement, people):
    before, rows = AuditEntry.objects.count(), list(Membership.objects.order_by("pk")[:3])
    with transaction.atomic():
        for row in rows:
            write(row)
    entries = AuditEntry.objects.order_by("pk")[before:]
    assert [(entry.action, entry.target_id, list(entry.rows["engagements.membership"]))
            for entry in entries] == [("row.write", str(row.pk), [str(row.pk)]) for row in rows]
    assert pending_writes() == []
    with transaction.atomic():
        record(rows[0], people)
    assert AuditEntry.objects.order_by("pk").last().rows == {}


def test_nothing_waits_after_a_transaction_that_was_taken_back(row, people):
    with transaction.atomic():
        write(row)
        transaction.set_rollback(True)
    assert pending_writes() == []
