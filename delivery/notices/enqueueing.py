"""Waking the senders. A message carries only an id; losing or doubling one changes nothing."""

import contextlib

from celery import signature
from django.db import transaction
from kombu.exceptions import OperationalError


def enqueue_channel(channel_id: int) -> None:
    """Ask a worker, once this transaction has committed, to look at the channel."""
    transaction.on_commit(lambda: send("notices.send_to_channel", channel_id))


def enqueue_mail(user_id: int) -> None:
    """Ask a worker, once this transaction has committed, to look at the person's mail."""
    transaction.on_commit(lambda: send("notices.send_mail_to", user_id))


def send(task: str, pk: int) -> None:
    """Ask now. A broker that is away is no error: the periodic sweep finds what is due."""
    with contextlib.suppress(OSError, OperationalError):
        signature(task, args=(pk,), options={"expires": 60}).apply_async(retry=False)
