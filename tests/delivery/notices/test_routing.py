"""Which channel hears of what, and when."""


from django.utils import timezone

from delivery.notices import tasks
from delivery.notices.models import Dispatch
from delivery.notices.services import channels
from delivery.notices.transport import send_dispatches
from engagements.models import Role
from tests.delivery.notices.conftest import states


def test_customers_channel_gets_only_customers_events(channel_of, submit, record, people):
    channel = channel_of(is_for_customers=True)
    submit()
    assert channel.dispatches.count() == 0


def test_channel_of_another_engagement_gets_nothing(channel_of, submit, engagement):
    from engagements.models import Engagement

    other = Engagement.objects.create(code="X1", name="x", customer=engagement.customer)
    theirs, ours = channel_of(engagement=other), channel_of("feishu", engagement=engagement)
    submit()
    assert (theirs.dispatches.count(), ours.dispatches.count()) == (0, 2)


def test_switched_off_channel_sends_nothing_that_waited(channel_of, other_side, submit, people):
    channel = channel_of()
    submit()
    channels.switch_channel(actor=people[Role.MANAGER], channel=channel, is_on=False)
    send_dispatches.send_to_channel(channel.pk)
    channels.switch_channel(actor=people[Role.MANAGER], channel=channel, is_on=True)
    send_dispatches.send_to_channel(channel.pk)
    assert (states(channel), other_side.received) == (["withdrawn", "withdrawn"], [])


def test_daily_channel_waits_for_the_digest(channel_of, other_side, submit):
    channel = channel_of(pace="daily")
    submit()
    send_dispatches.send_to_channel(channel.pk)
    assert other_side.received == []
    Dispatch.objects.update(due_at=timezone.now())
    send_dispatches.send_to_channel(channel.pk)
    assert len(other_side.received) == 1
    assert states(channel) == ["sent", "sent"]


def test_commit_wakes_and_the_sweep_finds_what_was_not_woken(
        channel_of, other_side, submit, settings, django_capture_on_commit_callbacks):
    settings.CELERY_TASK_ALWAYS_EAGER = True
    from delivery.celery import app

    app.conf.task_always_eager = True
    try:
        channel = channel_of()
        with django_capture_on_commit_callbacks(execute=True):
            submit()
        assert states(channel) == ["sent", "sent"]
        submit()  # nobody is woken
        tasks.sweep()
        assert states(channel) == ["sent"] * 4
    finally:
        app.conf.task_always_eager = False
