"""What stands in the way of a document is found without asking the same again and again."""

from collections import Counter

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from delivery.reports import services
from delivery.reports.issue_checks.checks import problems_of
from delivery.reports.models import Document
from engagements.models import Role

MOST = {"TR": 94, "FA": 78}  # queries; of three criteria on two models; who may review a report


@pytest.mark.slow
@pytest.mark.parametrize("kind", MOST)
def test_the_checks_of_a_document_ask_little(people, delivered, kind):
    document = Document.objects.get(pk=services.draft_document(
        actor=people[Role.MANAGER], engagement=delivered, kind=kind).pk)
    with CaptureQueriesContext(connection) as asked:
        problems_of(document)
    times = Counter(query["sql"] for query in asked)
    assert len(asked) <= MOST[kind]
    assert sum(times.values()) - len(times) <= 14  # asked again
