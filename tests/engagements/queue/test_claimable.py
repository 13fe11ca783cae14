"""Claims on rows: one worker at a time, renewed, given back, and free again once they expire."""

import threading
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from delivery.notices.models import Dispatch, Event

HALF_AN_HOUR = timedelta(minutes=30)


@pytest.fixture
def row(people) -> Dispatch:
    now = timezone.now()
    event = Event.objects.create(kind="deadline_near", subject="EP-1", path="/", at=now)
    return Dispatch.objects.create(event=event, recipient=people["manager"], due_at=now)


def test_only_one_of_two_claims_gets_the_row(row):
    now, rows = timezone.now(), Dispatch.objects.filter(pk=row.pk)
    first = rows.unclaimed(now).claim(now, HALF_AN_HOUR, attempts=1)
    assert rows.unclaimed(now).claim(now, HALF_AN_HOUR) == ""
    claimed = Dispatch.objects.claimed_with(first).get()
    assert (claimed.attempts, claimed.claimed_until) == (1, now + HALF_AN_HOUR)


def test_an_expired_claim_is_taken_over_and_its_first_worker_changes_nothing(row):
    now, rows = timezone.now(), Dispatch.objects.filter(pk=row.pk)
    first = rows.claim(now, HALF_AN_HOUR)
    later = now + 2 * HALF_AN_HOUR
    second = rows.unclaimed(later).claim(later, HALF_AN_HOUR)
    assert second not in ("", first)
    assert Dispatch.objects.claimed_with(first).renew_claim(later, HALF_AN_HOUR) == 0
    assert Dispatch.objects.claimed_with(first).release(attempts=9) == 0
    assert Dispatch.objects.claimed_with(second).renew_claim(later, 2 * HALF_AN_HOUR) == 1
    row.refresh_from_db()
    assert (row.attempts, row.claimed_until) == (0, later + 2 * HALF_AN_HOUR)


def test_release_gives_the_row_back_with_its_new_values(row):
    now = timezone.now()
    token = Dispatch.objects.filter(pk=row.pk).claim(now, HALF_AN_HOUR)
    assert Dispatch.objects.claimed_with(token).release(attempts=2) == 1
    row.refresh_from_db()
    assert (row.claim_token, row.claimed_until, row.attempts) == ("", None, 2)
    assert Dispatch.objects.unclaimed(now).get() == row


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite locks no single rows")
def test_a_row_that_another_writes_is_left_out_instead_of_waited_for(row, people):
    """Waiting claims of several rows, in two orders, would wait for each other."""
    other = Dispatch.objects.create(event=row.event, recipient=people["sales"],
                                    due_at=row.due_at)
    now, found = timezone.now(), []

    def claim():
        found.append(Dispatch.objects.all().claim(now, HALF_AN_HOUR))
        connection.close()

    with transaction.atomic():
        Dispatch.objects.filter(pk=row.pk).update(attempts=1)
        thread = threading.Thread(target=claim)
        thread.start()
        thread.join(timeout=60)
        assert not thread.is_alive()
    assert Dispatch.objects.claimed_with(found[0]).get() == other
