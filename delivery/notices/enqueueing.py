"""Asking workers to send what is due; `tasks.sweep` finds what such a message never reached."""

from engagements.queue.enqueue import enqueue_on_commit

SEND_TO_CHANNEL = "notices.send_to_channel"
SEND_MAIL_TO = "notices.send_mail_to"


def enqueue_channel(channel_id: int) -> None:
    """Send what is due on the channel, once this transaction has committed."""
    enqueue_on_commit(SEND_TO_CHANNEL, channel_id)


def enqueue_mail(user_id: int) -> None:
    """Send the person's due e-mail, once this transaction has committed."""
    enqueue_on_commit(SEND_MAIL_TO, user_id)
