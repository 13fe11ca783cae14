"""One machine is one node: by host key, by machine id and boot. Cards that nobody has read."""

import pytest
from django.urls import reverse
from django.utils import timezone

from engagements.errors import InvalidInput
from tests.workers.sshd import USER, can_run, make_key, running_sshd
from workers import services
from workers.models import Card, Node
from workers.nodes import machines, ssh
from workers.services import node_edits

pytestmark = [pytest.mark.django_db(transaction=True),
              pytest.mark.skipif(not can_run(), reason="needs sshd")]


@pytest.fixture
def sshd(tmp_path):
    with running_sshd(tmp_path / "sshd") as server:
        yield server
    ssh.close_all()


@pytest.fixture
def enrol(people):
    def go(server, name, **fields) -> Node:
        return services.enrol_node(actor=people["operator"], **{
            "name": name, "host": "127.0.0.1", "port": server.port, "username": USER,
            "private_key": server.key, **fields})

    return go


@pytest.fixture
def confirm(people):
    return lambda node: services.confirm_host_key(
        actor=people["operator"], node=node, fingerprint=ssh.fingerprint(node.offered_host_key))


def test_same_host_key_at_another_address_is_refused(sshd, enrol, confirm):
    confirm(enrol(sshd, "n1"))
    with pytest.raises(InvalidInput) as refused:
        enrol(sshd, "n2", host="localhost")
    assert "n1" in refused.value.message
    assert not Node.objects.filter(name="n2").exists()


@pytest.mark.slow
def test_same_machine_with_another_host_key_is_refused(sshd, enrol, confirm, tmp_path):
    """As a container's own server on a second port: machine id and boot give it away."""
    first = confirm(enrol(sshd, "n1"))
    assert (first.machine_id, first.boot_id) != ("", "")
    with running_sshd(tmp_path / "second") as second:
        node = enrol(second, "n2")
        with pytest.raises(InvalidInput) as refused:
            confirm(node)
    assert "n1" in refused.value.message
    node.refresh_from_db()
    assert (node.state, node.host_key) == (Node.State.PENDING, "")


@pytest.mark.slow
def test_machine_that_let_nobody_in_at_first_is_found_with_the_first_log_in(
        sshd, enrol, confirm, people, tmp_path):
    confirm(enrol(sshd, "n1"))
    with running_sshd(tmp_path / "second") as second:
        other_key = make_key(second.root / "other_key")
        node = confirm(enrol(second, "n2", private_key=other_key))
        assert (node.state, node.machine_id) == (Node.State.UNTRIED, "")
        second.let_in("other_key")
        with pytest.raises(InvalidInput):
            node_edits.try_login(actor=people["operator"], access=node)
        node.refresh_from_db()
        assert node.state == Node.State.UNTRIED
        with pytest.raises(InvalidInput):
            services.set_maintenance(actor=people["operator"], node=node, is_on=False)


@pytest.mark.slow
def test_copied_disks_are_machines_of_their_own(sshd, enrol, confirm, tmp_path):
    """The same machine id, but another boot."""
    first = confirm(enrol(sshd, "n1"))
    Node.objects.filter(pk=first.pk).update(boot_id="an earlier one", port=1)  # does not answer
    with running_sshd(tmp_path / "second") as second:
        assert confirm(enrol(second, "n2")).state == Node.State.READY


@pytest.mark.slow
def test_practice_nodes_stand_for_machines_of_their_own(sshd, enrol, confirm, tmp_path):
    confirm(enrol(sshd, "n1"))
    with running_sshd(tmp_path / "second") as second:
        assert confirm(enrol(second, "n2", is_practice=True)).state == Node.State.READY


def test_identity_is_the_machine_s_own(sshd, enrol, confirm):
    node = confirm(enrol(sshd, "n1"))
    with open("/proc/sys/kernel/random/boot_id") as boot:
        assert machines.identity_of(node).boot_id == boot.read().strip()


def test_nodes_enrolled_twice_by_an_earlier_release_are_told(sshd, people, client):
    nodes = [Node.objects.create(name=name, host="192.0.2.1", username="desk", state="ready",
                                 host_key=sshd.host_key, cards_total=8) for name in ("n1", "n2")]
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    client.force_login(people["operator"])
    page = client.get(reverse("workers:node", args=[nodes[0].pk])).content.decode()
    assert "The node n2 shows the same host key" in page


def test_cards_that_were_typed_in_are_marked_until_they_are_read(people, client):
    node = Node.objects.create(name="n1", host="192.0.2.1", username="desk", state="ready",
                               cards_total=8)
    client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
    client.force_login(people["operator"])
    urls = [reverse("workers:node", args=[node.pk]), reverse("workers:nodes")]
    assert ["typed in" in client.get(url).content.decode() for url in urls] == [True, True]
    assert client.get(f"/api/v1/nodes/{node.pk}/").json()["has_read_cards"] is False
    Card.objects.create(node=node, index=0, chip_name="910B3", health="OK", read_at=timezone.now())
    assert ["typed in" in client.get(url).content.decode() for url in urls] == [False, False]
    assert client.get(f"/api/v1/nodes/{node.pk}/").json()["has_read_cards"] is True
