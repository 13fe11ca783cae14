"""What a worker of the older version writes during an upgrade appears in the lists all the same."""

import pytest
from django.core.files.base import ContentFile
from django.db import transaction
from rest_framework.test import APIClient

from assessments.models import Comparison
from delivery.operation import tasks
from engagements.audit import audit_log
from engagements.models import AuditEntry, Role
from workers.artifacts.artifact_store import store_file
from workers.models import StoredReading

LISTS = ("/api/v1/config-checks/", "/api/v1/comparisons/")


@pytest.fixture
def older_rows(engagement):
    """Rows as the older version writes them, which knows no engagement of theirs."""
    for owner in (engagement, None):
        with transaction.atomic():
            artifact = store_file(stream=ContentFile(str(owner).encode()), name="check.xlsx",
                                  engagement=owner)
            StoredReading.objects.create(artifact=artifact, kind="config_check",
                                         reader="msprobe_config_check", reader_version="1")
            audit_log.record(actor=None, action="artifact.read", target=artifact)
        Comparison.objects.create(artifact=artifact, reader_version="1")


@pytest.mark.usefixtures("older_rows")
def test_rows_of_older_workers_get_their_engagement(people, engagement):
    api = APIClient()
    api.force_authenticate(people[Role.CONSULTANT])
    assert [api.get(path).data["count"] for path in LISTS] == [0, 0]
    tasks.fill_engagements()
    assert [api.get(path).data["count"] for path in LISTS] == [1, 1]
    for table in (StoredReading, Comparison):
        assert {row.engagement for row in table.objects.all()} == {engagement, None}
    [entry] = AuditEntry.objects.filter(action="stored_reading.complete")
    assert entry.engagement == engagement
    assert (list(audit_log.findings()), list(audit_log.row_differences())) == ([], [])
    tasks.fill_engagements()
    assert AuditEntry.objects.filter(action="stored_reading.complete").get() == entry
