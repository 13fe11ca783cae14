"""Forty simulated nodes of eight cards, two projects, and what an operator could ask about them."""

from base64 import b64encode
from datetime import UTC, datetime, timedelta

from django.utils import timezone

from engagements.models import Customer, Engagement, Role
from workers.models import (
    Card,
    CardAlarm,
    CardLease,
    Job,
    JobState,
    Node,
    NodeReservation,
    NodeSample,
)


def host_key(number: int) -> str:
    blob = b"\0\0\0\x0bssh-ed25519\0\0\0\x20" + bytes([number]) * 32
    return f"ssh-ed25519 {b64encode(blob).decode()}"


VERSIONS = {"driver": "24.1.rc1", "firmware": "7.5.0.1.129", "cann": "8.0.RC3",
            "torch_npu": "2.1.0.post8"}
HOUR = timedelta(hours=1)
LAST_NIGHT = datetime(2025, 11, 3, 15, tzinfo=UTC)  # 23:00 in Shanghai
ODD = {
    "npu-11": {"trouble": "away", "unreachable_since": timezone.now() - HOUR},
    "npu-12": {"state": Node.State.QUARANTINED, "trouble": "key"},
    "npu-13": {"state": Node.State.MAINTENANCE},
    "npu-15": {"state": Node.State.PENDING, "offered_host_key": host_key(215)},
    "npu-16": {"scratch_free_mb": 12},
    "npu-17": {"software": {**VERSIONS, "driver": "23.0.6"}},
    "npu-18": {"software": {**VERSIONS, "cann": "7.0.0"}},
    "npu-19": {"clock_offset_seconds": 95},
}


def build(people, engagement) -> dict:
    """`engagement` is of the people's team; nobody of it sees the other project."""
    now = timezone.now()
    other = Engagement.objects.create(code="EP-OTHER", name="另一项目",
                                      customer=Customer.objects.create(name="另一客户"))
    nodes = Node.objects.bulk_create(Node(**{
        "name": f"npu-{n:02}", "host": f"192.0.2.{n}", "username": "desk", "state": "ready",
        "cards_total": 8, "software": VERSIONS, "host_key": host_key(n),
        "scratch_used_mb": 9_000, "scratch_free_mb": 800_000, "clock_offset_seconds": 0,
        "last_seen_at": now, **ODD.get(f"npu-{n:02}", {})}) for n in range(1, 41))
    by_name = {node.name: node for node in nodes}
    Card.objects.bulk_create(Card(
        node=node, index=index, npu_id=index, chip_name="910B3", health="OK", temperature_c=48,
        power_w=95, memory_used_mb=3000, memory_total_mb=65536, read_at=now)
        for node in nodes for index in range(8))
    Card.objects.filter(node=by_name["npu-07"], index=3).update(temperature_c=97)
    CardAlarm.objects.create(node=by_name["npu-07"], card_index=3, kind="heat", value="97 °C",
                             since=now, seen_at=now)
    NodeReservation.objects.create(node=by_name["npu-14"], starts_at=now - HOUR,
                                   ends_at=now + 5 * HOUR, reason="换风扇")
    NodeReservation.objects.create(node=by_name["npu-21"], engagement=other, cards=4,
                                   starts_at=now - HOUR, ends_at=now + 9 * HOUR, reason="验收")

    def job(node, of, cards, state, **fields):
        made = Job.objects.create(
            kind=fields.pop("kind", "env.npu_info"), node=by_name[node], engagement=of,
            cards_wanted=len(cards), state=state, created_by=people[Role.CONSULTANT],
            timeout_seconds=7200, **fields)
        CardLease.objects.bulk_create(CardLease(
            node=made.node, card_index=card, job=made, fence=1,
            taken_at=made.started_at or now, released_at=made.finished_at) for card in cards)
        return made

    started = {"started_at": now - HOUR / 2}
    october = datetime(2025, 10, 5, tzinfo=UTC)
    for of, hours in ((engagement, 10), (other, 4)):
        job("npu-02" if of is engagement else "npu-04", of, [0, 1], JobState.SUCCEEDED,
            kind="env.host_probe", started_at=october, finished_at=october + hours * HOUR)
    NodeSample.objects.bulk_create(NodeSample(
        node=by_name["npu-02"], at=october + n * HOUR, seconds=3600,
        cards={"0": [80, 1, 1, 1], "1": [20, 1, 1, 1]}) for n in range(5))
    return {
        "other": other, "nodes": nodes,
        "mine": job("npu-01", engagement, range(2), JobState.RUNNING, **started),
        "theirs": job("npu-01", other, range(2, 8), JobState.RUNNING, **started),
        "waits": Job.objects.create(
            kind="env.npu_info", node=by_name["npu-01"], engagement=engagement, cards_wanted=4,
            state=JobState.LEASING, created_by=people[Role.CONSULTANT], timeout_seconds=3600),
        "last_night": job("npu-03", engagement, [3], JobState.SUCCEEDED, kind="env.host_probe",
                          started_at=LAST_NIGHT, finished_at=LAST_NIGHT + 2 * HOUR),
    }
