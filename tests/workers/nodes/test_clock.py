"""The node's clock against ours (DOMAIN AR-17): our time is kept in UTC, theirs as a difference."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from workers.models import Node
from workers.nodes.reachability import seen
from workers.remote.replies import RemoteState


def answer(node_time: datetime | None) -> RemoteState:
    return RemoteState(is_present=True, exit_status=None, process="alive", heartbeat_at=None,
                       node_time=node_time, size=0, boot_id="x", offset=0, chunk=b"", line="")


@pytest.fixture
def now(monkeypatch) -> datetime:
    fixed = timezone.now()
    monkeypatch.setattr("workers.nodes.reachability.timezone.now", lambda: fixed)
    return fixed


@pytest.mark.django_db
@pytest.mark.parametrize("ahead", [0, 90, -4000])
def test_a_node_s_answer_says_how_far_its_clock_is_ahead(now, ahead):
    node = Node.objects.create(name="bms-01", host="10.0.0.8", username="desk", cards_total=8)
    seen(node, answer(now + timedelta(seconds=ahead)))
    node.refresh_from_db()
    assert (node.clock_offset_seconds, node.last_seen_at) == (ahead, now)


@pytest.mark.django_db
def test_a_node_that_does_not_tell_its_time_has_no_known_difference(now):
    node = Node.objects.create(name="bms-01", host="10.0.0.8", username="desk",
                               clock_offset_seconds=7, cards_total=8)
    seen(node, answer(None))
    node.refresh_from_db()
    assert node.clock_offset_seconds is None
