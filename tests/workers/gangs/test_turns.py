"""Whom a waiting job on several nodes holds back, and whom it lets pass."""

import pytest

from tests.workers.gangs.conftest import GangKind
from workers import services
from workers.dispatch import card_queue, gang_turns
from workers.kinds import base as registry
from workers.models import CardLease, Job, JobState, Node
from workers.nodes import card_leases

pytestmark = pytest.mark.django_db


@pytest.fixture
def nodes(db):
    return [Node.objects.create(name=f"n{n}", host=f"10.0.0.{n}", username="u",
                                state=Node.State.READY, cards_total=8) for n in range(3)]


@pytest.fixture
def queue(people, engagement, monkeypatch):
    monkeypatch.setitem(registry._kinds, GangKind.code, GangKind())

    def go(nodes, cards, timeout=7 * 24 * 3600):
        job = services.queue_job(
            actor=people["consultant"], kind=GangKind.code, nodes=nodes, engagement=engagement,
            parameters={"script": "true", "cards": cards})
        Job.objects.filter(pk=job.pk).update(timeout_seconds=timeout)
        Job.objects.filter(gang__job=job).update(timeout_seconds=timeout)
        job.refresh_from_db()
        return job

    return go


def occupy(node, job, cards):
    for card in range(cards):
        CardLease.objects.create(node=node, card_index=card, job=job, fence=1,
                                 taken_at=job.created_at)
    Job.objects.filter(pk=job.pk).update(state=JobState.RUNNING, started_at=job.created_at)


def member(job, node):
    return job.own_gang.members.get(node=node)


def test_the_first_holds_back_longer_jobs_and_lets_short_ones_pass(queue, nodes):
    running = queue(nodes[:1], 6, timeout=3600)
    occupy(nodes[0], running, 6)
    waiting = queue(nodes[:2], 8)
    longer, short = queue(nodes[1:2], 2, timeout=7200), queue(nodes[1:2], 2, timeout=600)
    assert card_queue.place_in_line(member(waiting, nodes[1])) == 1
    assert card_queue.place_in_line(longer) == 2
    assert gang_turns.lets_pass(member(waiting, nodes[1]), short)
    longer.delete()
    assert card_queue.place_in_line(short) == 1


def test_holds_back_nobody_while_a_node_of_it_cannot_serve(queue, nodes):
    queue(nodes[:2], 8)
    single = queue(nodes[1:2], 2)
    assert card_queue.place_in_line(single) == 2
    Node.objects.filter(pk=nodes[0].pk).update(state=Node.State.MAINTENANCE)
    assert card_queue.place_in_line(single) == 1


def test_only_the_first_on_all_its_nodes_holds_back(queue, nodes):
    first, second = queue(nodes[:2], 8), queue(nodes[1:], 8)
    single = queue(nodes[2:], 2)
    assert card_queue.place_in_line(single) == 1
    assert card_queue.place_in_line(member(second, nodes[1])) == 2
    assert card_queue.place_in_line(member(first, nodes[1])) == 1


def test_cards_are_taken_on_all_nodes_or_on_none(queue, nodes):
    running = queue(nodes[:1], 6)
    occupy(nodes[0], running, 6)
    job = queue([nodes[1], nodes[0]], 4)
    members = list(job.own_gang.present())
    assert card_leases.take_cards_of_all(job, members) == {}
    assert not CardLease.objects.filter(job__gang__job=job).exists()
    CardLease.objects.filter(job=running).delete()
    taken = card_leases.take_cards_of_all(job, members)
    assert list(taken.values()) == [[0, 1, 2, 3]] * 2
    assert card_leases.take_cards_of_all(job, members) == taken


def test_racks_stand_together(queue, nodes):
    Node.objects.filter(pk__in=[nodes[0].pk, nodes[2].pk]).update(labels="910B, rack=a")
    Node.objects.filter(pk=nodes[1].pk).update(labels="rack=b")
    job = queue(list(Node.objects.order_by("pk")), 1)
    assert [each.node.name for each in job.own_gang.present()] == ["n0", "n2", "n1"]


@pytest.mark.slow
def test_members_are_no_jobs_of_their_own(queue, nodes, client, people):
    job = queue(nodes, 2)
    client.force_login(people["consultant"])
    listed = client.get("/api/v1/jobs/").json()["results"]
    assert [(row["id"], len(row["members"])) for row in listed] == [(job.pk, 3)]
    page = client.get(f"/jobs/{job.pk}/?rank=1").content.decode()
    assert all(node.name in page for node in nodes)
    part = member(job, nodes[1])
    assert f'href="/jobs/{job.pk}/"' in client.get(f"/jobs/{part.pk}/").content.decode()
    assert client.get(f"/jobs/{job.pk}/?rank=all").status_code == 200
    assert client.get(f"/jobs/{job.pk}/log/all/").status_code == 200
    assert client.get(f"/api/v1/jobs/{part.pk}/").json()["part_of"] == job.pk
    assert client.get("/jobs/queue/").content.decode().count(f"/jobs/{job.pk}/") >= 1


def test_queued_over_the_api(nodes, client, people, engagement, monkeypatch):
    monkeypatch.setitem(registry._kinds, GangKind.code, GangKind())
    client.force_login(people["consultant"])
    answer = client.post("/api/v1/jobs/", {
        "kind": GangKind.code, "engagement": engagement.pk, "restarts": 2,
        "nodes": [node.pk for node in nodes], "parameters": {"script": "true", "cards": 2},
    }, content_type="application/json")
    assert answer.status_code == 201, answer.content
    assert [row["rank"] for row in answer.json()["members"]] == [0, 1, 2]
    job = Job.objects.get(pk=answer.json()["id"])
    assert (job.own_gang.restarts_allowed, job.cards_total) == (2, 6)
