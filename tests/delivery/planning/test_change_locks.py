"""Steps of a change request lock the engagement first (docs/architecture.md, locks)."""

import pytest
from django.db.models import QuerySet

from delivery.planning.services import change_drafts, changes
from engagements.models import Role


@pytest.fixture
def locked(monkeypatch):
    """Names of the models whose rows are locked, in order."""
    names, original = [], QuerySet.select_for_update

    def noted(rows, *args, **options):
        names.append(rows.model.__name__)
        return original(rows, *args, **options)

    monkeypatch.setattr(QuerySet, "select_for_update", noted)
    return names


def test_every_step_locks_the_engagement_before_the_change(change, people, locked):
    """Applying a change locks the engagement too: the other order could wait for ever."""
    manager, consultant, reviewer = (
        people[role] for role in (Role.MANAGER, Role.CONSULTANT, Role.REVIEWER))
    task = change.engagement.plan.tasks.get(stage="survey")
    steps = [
        lambda: changes.withdraw_change(actor=consultant, change=change),
        lambda: change_drafts.set_schedule_effect(
            actor=consultant, change=change, task=task, days_after=4),
        lambda: changes.update_change(actor=consultant, change=change, title="改后标题"),
        lambda: changes.submit_change(actor=consultant, change=change),
        lambda: changes.approve_change(actor=manager, change=change),
        lambda: changes.approve_change(actor=reviewer, change=change),
        lambda: changes.record_result(actor=manager, change=change, result="已压测"),
    ]
    for step in steps:
        locked.clear()
        change.refresh_from_db()
        step()
        assert locked.index("Engagement") < locked.index("ChangeRequest")


def test_a_rejection_locks_the_engagement_first(change, people, locked):
    changes.reject_change(actor=people[Role.REVIEWER], change=change, reason="不同意")
    assert locked[:2] == ["Engagement", "ChangeRequest"]
