"""A typesetter that takes no time."""

import pytest

from delivery.reports import registry


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
def renderer(monkeypatch) -> FakeRenderer:
    made = FakeRenderer()
    monkeypatch.delitem(registry.get("TR").writers, "xlsx")  # two files are enough here
    monkeypatch.setattr("delivery.reports.rendering.render_document", made)
    return made
