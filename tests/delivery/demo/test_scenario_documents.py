"""The demo issues every kind of document."""

import pytest

from delivery.demo.sample_firm import SAMPLE
from delivery.demo.sample_passages import PASSAGES
from delivery.demo.scenario_documents import ScenarioDocuments
from delivery.reports import registry


class Recorder(ScenarioDocuments):
    """Takes down which kinds are asked for; nothing is issued."""

    def __init__(self):
        self.kinds, self.log = [], lambda _line: None

    def _issue(self, kind):
        self.kinds.append(kind)

    def _accept(self, kind, name, step):
        self._issue(kind)

    def _save_files(self, name, document):
        """There is none."""


def test_every_kind_is_issued_once():
    recorder = Recorder()
    for step in ("agreements", "report", "provisional", "sheets"):
        assert step in SAMPLE.steps
        getattr(recorder, step)()
    recorder._accept("FA", "acceptance", "review")  # what the step `acceptance` begins with
    assert sorted(recorder.kinds) == sorted(kind.code for kind in registry.all_kinds())


@pytest.mark.parametrize("code", PASSAGES)
def test_the_samples_passages_are_passages_of_their_kind(code):
    blocks = {block.code for block in registry.get(code).blocks}
    assert set(PASSAGES[code]) <= blocks
    assert all(text["zh"] and text["en"] for text in PASSAGES[code].values())
