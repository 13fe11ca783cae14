"""Celery tasks: doors to the senders and the watch."""

from celery import shared_task
from django.utils import timezone

from delivery.notices import deadline_watch, enqueueing
from delivery.notices.models import Channel
from delivery.notices.transport import dispatch_claims, send_dispatches


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
    """Wake what is due; found in the database, not in the queue."""
    rows = dispatch_claims.due(timezone.now()).order_by()
    channels = rows.filter(channel__state=Channel.State.ACTIVE)
    for pk in channels.values_list("channel", flat=True).distinct():
        enqueueing.send("notices.send_to_channel", pk)
    for pk in rows.filter(channel=None).values_list("recipient", flat=True).distinct():
        enqueueing.send("notices.send_mail_to", pk)


@shared_task(name="notices.watch")
def watch() -> None:
    """Announce what no write announces."""
    deadline_watch.look(timezone.now())
