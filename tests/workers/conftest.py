"""Every step that a test lets a job take leads to a state that the table of jobs names."""

import pytest

from workers.dispatch import node_polling, runner
from workers.dispatch.transitions import TRANSITIONS
from workers.models import JobState


@pytest.fixture(autouse=True)
def _steps_follow_the_table(monkeypatch):
    guarded, undeclared = runner.guarded, set()
    declared = {(source, row.target) for row in TRANSITIONS.automatic.values()
                for source in row.sources}

    def watched(job, step):
        before = job.state_before_unknown if job.state == JobState.UNKNOWN else job.state
        changes = guarded(job, step)
        move = before or JobState.RUNNING, changes.get("state", job.state)
        if move[0] != move[1] and move not in declared:
            undeclared.add(move)
        return changes

    monkeypatch.setattr(runner, "guarded", watched)
    monkeypatch.setattr(node_polling, "guarded", watched)
    yield
    assert undeclared == set(), "workers/dispatch/transitions.py names no such step"
