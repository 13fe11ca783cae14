"""A typesetter that takes no time, and the draft that many tests look at."""

import pytest

from delivery.reports import registry, services
from delivery.reports.models import Document
from engagements.models import Role
from tests.cached_fixtures import cached_fixture


class FakeRenderer:
    """Stands for the typesetter; counts its runs."""

    def __init__(self):
        self.runs, self.error = 0, None

    def __call__(self, snapshot, language, signed=None, **more):
        self.runs += 1
        if self.error:
            raise self.error
        return f"%PDF {language} {snapshot['number']}".encode()


@pytest.fixture
@cached_fixture
def report(delivered, people) -> Document:
    """The draft of a test report."""
    return services.draft_test_report(actor=people[Role.MANAGER], engagement=delivered)


@pytest.fixture
def renderer(monkeypatch) -> FakeRenderer:
    made = FakeRenderer()
    for kind in ("AC", "TR"):  # two files are enough here
        monkeypatch.delitem(registry.get(kind).writers, "xlsx")
    monkeypatch.setattr("delivery.reports.rendering.render_document", made)
    return made
