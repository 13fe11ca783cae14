"""The audit log's chain under many writers, and rows written outside a service."""

import threading

import pytest
from django.db import connection, transaction

from engagements.audit import audit_log
from engagements.models import AuditChain, AuditEntry, Membership, Role

WRITERS, EACH = 4, 6


@pytest.mark.django_db(transaction=True)
def test_writers_at_the_same_time_make_one_chain(engagement, people):
    manager, barrier = people[Role.MANAGER], threading.Barrier(WRITERS)
    already = AuditEntry.objects.count()

    def write():
        barrier.wait()
        for _n in range(EACH):
            audit_log.record(actor=manager, action="engagement.update", target=engagement)
        connection.close()

    threads = [threading.Thread(target=write) for _n in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    numbers = list(AuditEntry.objects.order_by("pk").values_list("pk", flat=True))
    assert numbers == list(range(1, already + WRITERS * EACH + 1))
    assert AuditChain.objects.get().number == numbers[-1]
    assert list(audit_log.findings()) == []


@pytest.mark.django_db(transaction=True)
def test_a_row_that_no_entry_spoke_of_gets_one_when_its_transaction_ends(engagement):
    row = Membership.objects.first()
    with transaction.atomic():
        row.role = Role.SALES
        row.save()
        before = AuditEntry.objects.count()
    entry = AuditEntry.objects.order_by("pk").last()
    assert (AuditEntry.objects.count(), entry.action) == (before + 1, "row.write")
    assert entry.rows["engagements.membership"][str(row.pk)]["role"] == Role.SALES
    assert list(audit_log.row_differences()) == []


@pytest.mark.django_db(transaction=True)
def test_rows_written_in_a_savepoint_before_the_entry_are_in_it(engagement, people):
    with transaction.atomic():
        row, _made = Membership.objects.update_or_create(
            engagement=engagement, user=people[Role.SALES], defaults={"role": Role.OPERATOR})
        audit_log.record(actor=people[Role.MANAGER], action="member.add", target=row)
    assert AuditEntry.objects.order_by("pk").last().action == "member.add"
    assert list(audit_log.row_differences()) == []


@pytest.mark.django_db(transaction=True)
def test_what_is_rolled_back_is_not_vouched_for(engagement, people):
    row = Membership.objects.first()
    old, count = row.role, AuditEntry.objects.count()
    with transaction.atomic():
        Membership.objects.filter(pk=row.pk).update(role=Role.SALES)
        audit_log.record(actor=people[Role.MANAGER], action="member.add", target=row)
        transaction.set_rollback(True)
    row.refresh_from_db()
    assert (row.role, AuditEntry.objects.count()) == (old, count)
    assert list(audit_log.row_differences()) == []


@pytest.mark.django_db(transaction=True)
def test_an_entry_rolled_back_alone_leaves_the_row_to_the_next_one(engagement, people):
    """The row was written outside the savepoint that the entry was lost with."""
    row = Membership.objects.first()
    with transaction.atomic():
        Membership.objects.filter(pk=row.pk).update(role=Role.SALES)
        with transaction.atomic():
            audit_log.record(actor=people[Role.MANAGER], action="member.add", target=row)
            transaction.set_rollback(True)
    assert AuditEntry.objects.order_by("pk").last().action == "row.write"
    assert list(audit_log.row_differences()) == []


@pytest.mark.django_db(transaction=True)
def test_a_removed_row_may_not_come_back(engagement):
    row = Membership.objects.first()
    key = row.pk
    row.delete()
    assert list(audit_log.row_differences()) == []
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO engagements_membership (id, engagement_id, user_id, role) "
            "VALUES (%s, %s, %s, %s)", [key, row.engagement_id, row.user_id, row.role])
    [found] = audit_log.row_differences()
    assert (found.table, found.key, found.problem) == (Membership, str(key), "unknown")
