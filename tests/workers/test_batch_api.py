"""Many jobs in one call: all of them or none, and one message for their nodes."""

import pytest
from rest_framework.test import APIClient

from tests.workers.shell_kind import ShellKind
from workers.dispatch import enqueueing
from workers.kinds import base as registry
from workers.models import Job, Node

pytestmark = pytest.mark.django_db
URL = "/api/v1/jobs/batch/"


@pytest.fixture
def nodes(db) -> list[Node]:
    return [Node.objects.create(name=f"bms-{n}", host="192.0.2.1", username="desk",
                                state=Node.State.READY, cards_total=8) for n in (1, 2)]


@pytest.fixture
def sent(monkeypatch) -> list:
    found: list = []
    monkeypatch.setattr(enqueueing, "poll", found.append)
    return found


@pytest.fixture
def post(people, monkeypatch):
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())
    client = APIClient(headers={"accept-language": "en"})

    def go(orders, who="operator"):
        client.force_authenticate(people[who])
        return client.post(URL, orders, format="json")

    return go


def order(node: Node, script="true", **parameters) -> dict:
    return {"kind": "test.shell", "node": node.pk, "parameters": {"script": script, **parameters}}


def test_all_are_queued_in_order_and_their_nodes_woken_once(
        post, nodes, sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        answer = post([order(nodes[n % 2], f"echo {n}") for n in range(4)])
    assert answer.status_code == 201
    assert [row["parameters"]["script"] for row in answer.json()] == [
        f"echo {n}" for n in range(4)]
    assert sent == [[node.pk for node in nodes]]


def test_one_that_is_refused_refuses_all_and_is_named(post, nodes):
    nodes[1].state = Node.State.MAINTENANCE
    nodes[1].save()
    answer = post([order(nodes[0]), order(nodes[1]), order(nodes[0], wrong=1)])
    assert answer.status_code == 400
    assert {position: why["detail"] for position, why in answer.json()["jobs"].items()} == {
        "1": "The node bms-2 is “Maintenance”.", "2": "Unknown parameter: wrong."}
    assert answer.json()["detail"] == "No job was queued: 2 of 3 are refused."
    assert not Job.objects.exists()


@pytest.mark.parametrize("orders", [[], {}, [{"kind": "test.shell", "node": 0}]])
def test_what_is_no_list_of_jobs_is_an_error(post, orders):
    assert post(orders).status_code == 400


def test_who_may_not_work_queues_nothing(post, nodes):
    answer = post([order(nodes[0])], who="reviewer")
    assert answer.status_code == 403
    assert not Job.objects.exists()


def test_second_job_of_a_node_needs_no_second_message(
        people, nodes, sent, monkeypatch, django_capture_on_commit_callbacks):
    from workers import services

    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())
    with django_capture_on_commit_callbacks(execute=True):
        for node in (nodes[0], nodes[0], nodes[1]):
            services.queue_job(actor=people["operator"], kind="test.shell", node=node,
                               parameters={"script": "true"})
    assert sent == [[nodes[0].pk], [nodes[1].pk]]


def test_the_priority_of_a_job_is_asked_for_and_shown(post, nodes, sent):
    answer = post([{**order(nodes[0]), "priority": priority, "priority_reason": "验收在即"}
                   for priority in (10, 0, -10)])
    assert [row["priority"] for row in answer.json()] == [10, 0, -10]
    assert list(Job.objects.order_by("pk").values_list("priority", flat=True)) == [10, 0, -10]
    assert post([{**order(nodes[0]), "priority": 10}]).status_code == 400, "without a reason"
    wrong = post([{**order(nodes[0]), "priority": 7}])
    assert wrong.status_code == 400
    assert Job.objects.count() == 3
