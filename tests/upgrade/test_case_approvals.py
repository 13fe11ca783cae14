"""Cases that were shared before texts were approved: who recorded one counts as its approver where
the audit log proves it, all others stay within their engagement."""

from importlib import import_module

import pytest
from django.db import transaction
from django.db.migrations.loader import MigrationLoader

from delivery.knowledge.models import SolvedCase
from delivery.knowledge.services.cases import add_case, update_case
from engagements.audit import audit_log
from engagements.models import AuditEntry
from tests.delivery.knowledge.conftest import HCCL, fail, node

__all__ = ["fail", "node"]
MIGRATIONS = (("0006_fill_engagement_of_cases", "fill"), ("0007_approve_recorded_cases", "approve"))


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_only_what_the_log_proves_counts_as_approved(people, engagement, fail, settings):
    consultant = people["consultant"]

    def add() -> SolvedCase:
        return add_case(actor=consultant, title="x", cause="long " * 40, cure="x",
                        error_code="EI0002", versions={"cann": "8.2"}, job=fail(HCCL))

    recorded, changed = add(), add()
    of_a_node = add_case(actor=consultant, title="x", cause="x", cure="x", error_code="EI0002",
                         job=fail(HCCL, engagement=None))
    update_case(actor=consultant, case=changed, cure="changed since")
    with transaction.atomic():  # the log names nobody who recorded it
        unknown = SolvedCase.objects.create(title="x", cause="x", cure="x", error_code="EI0002",
                                            recorded_by=consultant)
    SolvedCase.objects.update(engagement=None)
    settings.MIGRATION_MODULES = {}  # the suite makes its tables of the models
    apps = MigrationLoader(None).project_state(("knowledge", MIGRATIONS[-1][0])).apps
    for _again in range(2):
        for name, run in MIGRATIONS:
            with transaction.atomic():
                getattr(import_module(f"delivery.knowledge.migrations.{name}"), run)(apps, None)
    entry = AuditEntry.objects.get(action="case.add", target_id=str(recorded.pk))
    rows = {case.pk: case for case in SolvedCase.objects.all()}
    assert {pk: (row.engagement, row.approved_by, row.approved_at, row.approved_hash)
            for pk, row in rows.items()} == {
        recorded.pk: (engagement, consultant, entry.at, recorded.text_hash),
        changed.pk: (engagement, None, None, ""), unknown.pk: (None, None, None, ""),
        of_a_node.pk: (None, consultant, rows[of_a_node.pk].approved_at, of_a_node.text_hash)}
    assert AuditEntry.objects.filter(action="case.approve").count() == 2
    assert (next(audit_log.findings(), None), list(audit_log.row_differences())) == (None, [])
