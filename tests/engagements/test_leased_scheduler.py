"""Of the clocks of several hosts one sends; another takes over when it is gone."""

from datetime import timedelta

import pytest
from celery import Celery
from celery.schedules import schedule
from django.db.models.functions import Now

from engagements import leased_scheduler
from engagements.leased_scheduler import CLOCK, LeasedScheduler, give_back, take
from engagements.models import Lease

pytestmark = pytest.mark.django_db


def test_a_lease_has_one_holder_until_it_is_given_back_or_runs_out():
    assert take(CLOCK, "a")
    assert not take(CLOCK, "b")
    assert take(CLOCK, "a")
    give_back(CLOCK, "b")
    assert not take(CLOCK, "b")
    give_back(CLOCK, "a")
    assert take(CLOCK, "b")
    Lease.objects.update(until=Now() - timedelta(seconds=1))
    assert take(CLOCK, "a")
    assert not take(CLOCK, "b")


class Clock(LeasedScheduler):
    """Notes what it would send."""

    def __init__(self, folder, name: str) -> None:
        self.sent = 0
        app = Celery("clock", broker="memory://", set_as_current=False)
        app.conf.beat_schedule = {"tick": {"task": "tick", "schedule": schedule(0.0)}}
        super().__init__(app, schedule_filename=str(folder / name), lazy=False)
        self.holder = name

    def apply_async(self, entry, producer=None, advance=True, **kwargs):
        self.sent += 1
        self.reserve(entry)


def test_two_clocks_send_once(tmp_path, monkeypatch):
    monkeypatch.setattr(leased_scheduler, "RENEWED_AFTER", 0)
    first, second = Clock(tmp_path, "first"), Clock(tmp_path, "second")
    for _n in range(3):
        first.tick()
        second.tick()
    assert (first.sent > 0, second.sent) == (True, 0)
    first.close()
    second.tick()
    assert second.sent > 0
    second.close()
    assert not Lease.objects.exists()
