"""Row locks leave foreign-key checks alone: writers of one engagement do not deadlock."""

import ast
import threading
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection, transaction

from engagements.audit import audit_log
from engagements.models import AuditEntry, Engagement, Role

APPS = ("engagements", "workers", "assessments", "delivery")
ROUNDS = 15


def test_every_row_lock_is_for_no_key_update():
    """FOR UPDATE waits for the FOR KEY SHARE of every row that refers to the locked one; the
    audit entry is such a row, and its writer holds the chain that the lock's owner wants next."""
    calls = [
        f"{path.relative_to(settings.BASE_DIR)}:{call.lineno}"
        for app in APPS for path in (Path(settings.BASE_DIR) / app).rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "select_for_update"
        and "no_key" not in {keyword.arg for keyword in call.keywords}
    ]
    assert calls == []


@pytest.mark.django_db(transaction=True)
def test_engagement_lock_and_audit_chain_in_both_orders_do_not_deadlock(engagement, people):
    """One writer locks the engagement and then wants the chain; the other holds the chain and
    has its reference to the engagement checked at commit."""
    manager, barrier, errors = people[Role.MANAGER], threading.Barrier(2), []

    def writes(lock_first: bool):
        try:
            for _round in range(ROUNDS):
                barrier.wait(timeout=60)
                with transaction.atomic():
                    if lock_first:
                        Engagement.objects.select_for_update(
                            of=("self",), no_key=True).get(pk=engagement.pk)
                    audit_log.record(actor=manager, action="engagement.update", target=engagement,
                                     engagement=engagement)
        except Exception as error:
            errors.append(error)
            barrier.abort()
        finally:
            connection.close()

    before = AuditEntry.objects.count()
    threads = [threading.Thread(target=writes, args=(first,)) for first in (True, False)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert AuditEntry.objects.count() == before + 2 * ROUNDS
    assert list(audit_log.findings()) == []
