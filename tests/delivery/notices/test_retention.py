"""Old messages go, what still waits and what is announced once stays, and the log stays whole."""

from datetime import timedelta

from django.utils import timezone

from delivery.notices.models import Channel, Dispatch, Event, Notice, SendAttempt
from delivery.notices.services import retention
from engagements.models import Role


def event(engagement, days: int, **fields) -> Event:
    return Event.objects.create(kind="job_failed", engagement=engagement, subject="#1", path="/",
                                at=timezone.now() - timedelta(days=days), **fields)


def test_only_what_is_old_and_ended_is_removed(engagement, people, settings, monkeypatch):
    monkeypatch.setattr(retention, "BATCH", 1)  # more than one round
    now, user = timezone.now(), people[Role.MANAGER]
    old, waiting, keyed, new = (event(engagement, 400), event(engagement, 400),
                                event(engagement, 400, key="k"), event(engagement, 10))
    for one in (old, keyed, new):
        Notice.objects.create(event=one, recipient=user)
    for one, state in ((old, "sent"), (waiting, "pending"), (new, "sent")):
        Dispatch.objects.create(event=one, recipient=user, state=state, due_at=one.at, sent_at=now)
    channel = Channel.objects.create(name="x", kind="webhook", url="https://x.example")
    for days in (91, 89):
        SendAttempt.objects.create(channel=channel, at=now - timedelta(days=days), is_ok=True)
    assert retention.remove_old(now) == {
        "attempts": 1, "dispatches": 1, "notices": 2, "events": 1}
    assert set(Event.objects.all()) == {waiting, keyed, new}
    assert Dispatch.objects.count() == 2
    assert sum(retention.remove_old(now).values()) == 0
