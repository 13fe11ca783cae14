"""Pages that show nothing of a document's facts do not read them from the database."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from delivery.reports import services
from engagements.models import Role


@pytest.mark.parametrize("path", [
    "/documents/", "/engagements/EP2501/documents/", "/documents/{pk}/progress/"])
def test_no_snapshot_is_read(client, people, delivered, path):
    manager = people[Role.MANAGER]
    document = services.draft_document(actor=manager, engagement=delivered, kind="PL")
    services.order_preview(actor=manager, document=document)
    client.force_login(manager)
    with CaptureQueriesContext(connection) as asked:
        assert client.get(path.format(pk=document.pk)).status_code == 200
    assert any("reports_document" in query["sql"] for query in asked)
    assert [query["sql"] for query in asked if '"snapshot"' in query["sql"]] == []
