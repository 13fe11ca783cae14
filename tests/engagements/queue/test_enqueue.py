"""Messages to workers: after the commit only, and a broker that is away is no error."""

import pytest
from celery.canvas import Signature
from django.db import transaction
from kombu.exceptions import OperationalError

from engagements.queue import enqueue, enqueue_on_commit


@pytest.fixture
def sent(monkeypatch) -> list[tuple]:
    messages = []
    monkeypatch.setattr(Signature, "apply_async", lambda self, **_options: messages.append(
        (self.task, self.args, self.options["expires"], self.options.get("countdown"))))
    return messages


def test_a_message_carries_its_arguments_and_limits(sent):
    enqueue("workers.advance", 7, expires=15, countdown=2)
    enqueue("workers.advance", 8)
    assert sent == [("workers.advance", (7,), 15, 2), ("workers.advance", (8,), 60, None)]


@pytest.mark.django_db
def test_only_what_is_committed_is_enqueued(sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        enqueue_on_commit("notices.sweep")
        with transaction.atomic():
            enqueue_on_commit("notices.watch")
            transaction.set_rollback(True)
        assert sent == []
    assert [message[0] for message in sent] == ["notices.sweep"]


@pytest.mark.parametrize("error", [OperationalError, ConnectionRefusedError])
def test_a_broker_that_is_away_is_no_error(monkeypatch, error):
    def refuse(self, **_options):
        raise error

    monkeypatch.setattr(Signature, "apply_async", refuse)
    enqueue("notices.sweep")
