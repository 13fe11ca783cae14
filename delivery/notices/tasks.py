"""Celery tasks: send what is due, find what was missed, look for approaching deadlines."""

from celery import shared_task
from django.utils import timezone

from delivery.notices import deadline_watch
from delivery.notices.models import Channel, Dispatch
from delivery.notices.transport import send_dispatches
from engagements.queue import enqueue


@shared_task(name="notices.send_to_channel")
def send_to_channel(channel_id: int) -> None:
    """Send what is due on one channel."""
    send_dispatches.send_to_channel(channel_id)


@shared_task(name="notices.send_mail_to")
def send_mail_to(user_id: int) -> None:
    """Send what is due to one person by e-mail."""
    send_dispatches.send_mail_to(user_id)


@shared_task(name="notices.sweep")
def sweep() -> None:
    """Enqueue what is due; found in the database, since a message may have been lost."""
    rows = Dispatch.objects.due(timezone.now()).order_by()
    channels = rows.filter(channel__state=Channel.State.ACTIVE)
    for pk in channels.values_list("channel", flat=True).distinct():
        enqueue(send_to_channel.name, pk)
    for pk in rows.filter(channel=None).values_list("recipient", flat=True).distinct():
        enqueue(send_mail_to.name, pk)


@shared_task(name="notices.watch")
def watch() -> None:
    """Announce what no write announces."""
    deadline_watch.announce_due(timezone.now())
