"""The front page, its part that is asked for later, and the counts of the board."""

from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.planning import board
from delivery.planning.board import matching, tallies_of
from engagements.models import Role, StageTransition
from tests.delivery.portal.conftest import submit_survey
from workers.models import Job

pytestmark = pytest.mark.django_db


def test_jobs_and_what_one_waits_for_come_after_the_page(client, people, engagement, llm):
    consultant = people[Role.CONSULTANT]
    submit_survey(people, llm)
    stored = {"engagement": engagement, "model": llm, "created_by": consultant}
    running = Job.objects.create(kind="env.npu_info", state="running", **stored)
    ended = Job.objects.create(kind="env.npu_info", state="succeeded", finished_at=timezone.now(),
                               **stored)
    client.force_login(consultant)
    first, later = client.get("/").content.decode(), client.get("/activity/")
    assert 'hx-get="/activity/"' in first
    assert f"/jobs/{running.pk}/" not in first
    assert list(later.context["running"]) == [running]
    assert list(later.context["finished"]) == [ended]
    assert [row.title.split(" · ")[0] for row in later.context["handed_on"]] == [engagement.code]
    assert f"/jobs/{running.pk}/" in later.content.decode()
    client.force_login(people[Role.REVIEWER])
    assert f"/jobs/{running.pk}/" not in client.get("/activity/").content.decode()


def test_the_board_counts_in_one_walk(people, llm, detector, monkeypatch):
    manager, now = people[Role.MANAGER], timezone.now()
    record = submit_survey(people, llm)
    found = matching(manager, {})
    counts = tallies_of(found, now)
    assert (counts.models, counts.blocked, counts.old, counts.more) == (2, 1, 0, "")
    StageTransition.objects.filter(record=record).update(at=now - timedelta(days=8))
    found.filter(model=llm).update(open_since=now - timedelta(days=8))
    assert tallies_of(found, now).old == 1
    monkeypatch.setattr(board, "MOST_COUNTED", 1)
    assert tallies_of(found, now).more == "+"
