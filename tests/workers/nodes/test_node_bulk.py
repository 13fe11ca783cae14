"""The same change on many nodes: each by itself, with its own outcome."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from engagements.models import Role
from workers.models import Node, NodeReservation

pytestmark = pytest.mark.django_db


@pytest.fixture
def nodes(db):
    return [Node.objects.create(name=f"n{n}", host=f"192.0.2.{n}", username="desk", state="ready",
                                cards_total=8, labels="train, 910B") for n in range(3)]


def test_labels_and_settings_of_a_selection(client, people, nodes):
    client.force_login(people[Role.OPERATOR])
    page = client.get(reverse("workers:node_bulk"), {"label": "910B"})
    assert page.context["forms"]["settings"]["nodes"].value() == [node.pk for node in nodes]
    page = client.post(reverse("workers:node_bulk"), {
        "action": "settings", "settings-nodes": [node.pk for node in nodes[:2]],
        "settings-add_labels": "夜间", "settings-remove_labels": "train",
        "settings-keep_days": "3"})
    assert [row.refusal for row in page.context["outcomes"]] == ["", ""]
    assert list(Node.objects.values_list("labels", "keep_days", "disk_stop_mb")) == [
        ("910B, 夜间", 3, None), ("910B, 夜间", 3, None), ("train, 910B", 14, None)]


def test_a_maintenance_of_many_by_page_and_api(client, people, nodes):
    client.force_login(people[Role.OPERATOR])
    start = timezone.localtime() + timedelta(hours=1)
    client.post(reverse("workers:node_bulk"), {
        "action": "maintenance", "maintenance-nodes": [nodes[0].pk],
        "maintenance-starts_at": f"{start:%Y-%m-%dT%H:%M}",
        "maintenance-ends_at": f"{start + timedelta(hours=1):%Y-%m-%dT%H:%M}",
        "maintenance-reason": "换卡"})
    asked = {"action": "maintenance", "nodes": [node.pk for node in nodes], "reason": "换卡",
             "starts_at": (start - timedelta(days=1)).isoformat(),
             "ends_at": (start - timedelta(hours=9)).isoformat()}
    url = "/api/v1/nodes/bulk/"
    past = client.post(url, asked, "application/json").json()
    assert [(row["node"], bool(row["refusal"])) for row in past] == [
        ("n0", True), ("n1", True), ("n2", True)]
    later = {**asked, "ends_at": (start + timedelta(hours=9)).isoformat()}
    assert client.post(url, later, "application/json").status_code == 200
    assert NodeReservation.objects.count() == 4
    wrong = client.post(url, {**later, "keep_days": 3}, "application/json")
    assert (wrong.status_code, "keep_days" in str(wrong.json())) == (400, True)
    client.force_login(people[Role.CONSULTANT])
    assert client.post(url, later, "application/json").status_code == 403
