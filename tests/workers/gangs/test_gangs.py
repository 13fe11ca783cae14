"""Jobs on several nodes, over OpenSSH's own servers."""

import socket

import pytest
from django.core.files.base import ContentFile
from django.utils.translation import override

from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from tests.workers import podman
from tests.workers.gangs.conftest import GangKind, drive, members
from tests.workers.sshd import can_run, running_sshd
from workers import services
from workers.artifacts.artifact_store import store_file
from workers.dispatch import gang_network
from workers.kinds import Parameter
from workers.kinds import base as registry
from workers.models import Job, JobState, Node
from workers.nodes import ssh
from workers.nodes.card_leases import held_cards
from workers.services import runtimes

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True),
              pytest.mark.skipif(not can_run(), reason="needs sshd")]
PEER = """
import os, socket, sys, time
rank, count = int(os.environ["NODE_RANK"]), int(os.environ["NNODES"])
place = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
if rank == 0:
    server = socket.create_server(place)
    lines = [server.accept()[0] for _other in range(count - 1)]
else:
    while True:
        try:
            lines = [socket.create_connection(place)]
            break
        except OSError:
            time.sleep(0.05)
print("rank", rank, "of", count, "meets", flush=True)
"""
MEETS = PEER + 'open(f"met-{rank}.txt", "w").write(str(len(lines)))\n'
FAILS = PEER + """
if rank == 1:
    time.sleep(0.2)
    sys.exit("ModuleNotFoundError: No module named 'apex'")
for line in lines:
    if not line.recv(1):
        time.sleep(0.3)
        sys.exit("RuntimeError: Connection closed by peer")
"""


@pytest.fixture
def python(tmp_path):
    """The command that runs a program on every node."""

    def go(text: str) -> str:
        (tmp_path / "program.py").write_text(text)
        return f"exec python3 {tmp_path}/program.py"

    return go


@pytest.mark.parametrize("servers", [4], indirect=True)
def test_four_nodes_meet(queue, nodes, python):
    job = drive(queue(python(MEETS), nodes, cards=2))
    assert (job.state, [m.state for m in members(job)]) == (
        JobState.SUCCEEDED, [JobState.SUCCEEDED] * 4), job.sentence
    assert sorted(job.artifacts.values_list("name", flat=True)) == [
        "log.txt", "met-0.txt", "met-1.txt", "met-2.txt", "met-3.txt"]
    assert [held_cards(member) for member in members(job)] == [[]] * 4
    assert [rank["cards"] for rank in job.results["ranks"]] == [[0, 1]] * 4
    assert list(Job.objects.whole()) == [job]
    assert list(audit_log.row_differences()) == []


def test_rank_that_failed_first_is_named_and_the_others_end(queue, nodes, python):
    job = drive(queue(python(FAILS), nodes))
    assert (job.state, job.message_values["rank"], job.message_values["node"]) == (
        JobState.FAILED, 1, "n1")
    assert job.results["diagnosis"]["quote"].endswith("No module named 'apex'")
    assert all(member.is_final for member in members(job))
    with override("en"):
        assert job.sentence.startswith("Node 1 (n1) failed first: ")


SLOW_CLOCK = """#!/bin/sh
/usr/bin/stat "$@" | awk '$NF ~ /^[0-9]{10}/ {
    $NF = sprintf($NF ~ /\\./ ? "%.6f" : "%d", $NF - 7200) } { print }'
"""


@pytest.mark.parametrize(("first", "then"), [
    ("exit 4", "sleep 3; exit 3"),
    ("exit 4", "sleep 0.3; echo 'Traceback (most recent call last):'; "
               "echo 'RuntimeError: Connection closed by peer'; exit 1"),
    ("sleep 1; echo 'RuntimeError: [gloo] Connection reset by peer' && exit 1", "sleep 3; exit 4"),
    ("echo 'RuntimeError: the process of n0 exited unexpectedly'; exit 1", "sleep 3; exit 4"),
], ids=["time", "traceback", "late", "named"])
def test_who_failed_first_is_told_by_ends_and_by_who_lost_whom(tmp_path, enrol, queue, first,
                                                               then):
    """The clock of node 0 is two hours slow, so its ends look earliest."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/stat").write_text(SLOW_CLOCK)
    (tmp_path / "bin/stat").chmod(0o755)
    with (running_sshd(tmp_path / "n0", PATH=f"{tmp_path}/bin:/usr/bin:/bin") as slow,
          running_sshd(tmp_path / "n1") as right):
        nodes = [enrol(server.port, server.key, f"n{n}") for n, server in enumerate((slow, right))]
        job = drive(queue(f'if [ "$NODE_RANK" = 1 ]; then {first}; fi; {then}', nodes))
        ssh.close_all()
    nodes[0].refresh_from_db()
    culprit = 0 if "reset" in first or "n0" in first else 1
    minutes = round((nodes[0].clock_offset_seconds or 0) / 60)
    assert (job.message_values["rank"], job.exit_status, minutes) == (
        culprit, 4, -120)


def test_cancelled_together(queue, nodes, people):
    job = drive(queue("sleep 300", nodes, cards=1), lambda job: all(
        member.state == JobState.RUNNING for member in members(job)))
    with pytest.raises(WrongState):
        services.cancel_job(actor=people["consultant"], job=members(job)[1])
    services.cancel_job(actor=people["consultant"], job=job)
    job = drive(job)
    assert (job.state, job.message_values) == (JobState.CANCELLED, {"n": 2})
    assert job.message.startswith("Cancelled on all %(n)d nodes; no")
    assert [held_cards(member) for member in members(job)] == [[], []]


def test_cards_of_all_nodes_or_of_none(queue, nodes):
    small = drive(queue("sleep 300", nodes, cards=5), lambda job: job.state == JobState.RUNNING)
    waiting = drive(queue("true", nodes, cards=4), lambda job: job.message)
    assert [held_cards(member) for member in members(waiting)] == [[], []]
    services.cancel_job(actor=small.created_by, job=small)
    assert drive(waiting).state == JobState.SUCCEEDED


def test_nodes_that_do_not_reach_each_other_are_told_before_the_start(queue, nodes):
    Node.objects.filter(pk=nodes[1].pk).update(cluster_address="192.0.2.7")
    job = drive(queue("true", nodes, cards=1))
    assert (job.state, job.message_values["node"], job.message_values["address"]) == (
        JobState.FAILED, "n1", "192.0.2.7")
    assert [member.state for member in members(job)] == [JobState.CANCELLED] * 2
    assert [held_cards(member) for member in members(job)] == [[], []]


def test_a_port_that_another_program_took_is_not_that_of_the_rendezvous(queue, nodes, python):
    job = queue(f'echo "$MASTER_PORT" > port-$NODE_RANK.txt; {python(MEETS)}', nodes)
    first = gang_network.FIRST_PORT + job.pk * 37 % gang_network.SPAN
    with socket.create_server(("127.0.0.1", first)):
        job = drive(job)
    ports = {job.artifacts.get(name=f"port-{rank}.txt").file.read() for rank in range(2)}
    assert (job.state, ports) == (JobState.SUCCEEDED, {b"%d\n" % (first + 1)}), job.sentence


def test_restarts_are_bounded(queue, nodes):
    job = drive(queue('[ "$DESK_RESTART" = 2 ]', nodes, restarts=2))
    assert (job.state, len(members(job))) == (JobState.SUCCEEDED, 6)
    job = drive(queue("exit 3", nodes, restarts=1))
    assert (job.state, job.message_values["restarts"], len(members(job))) == (
        JobState.FAILED, 1, 4)


def test_what_cannot_be_asked_for(queue, nodes, people, engagement):
    with pytest.raises(InvalidInput):
        queue("true", [nodes[0], nodes[0]])
    with pytest.raises(InvalidInput):
        queue("true", nodes, restarts=99)
    with pytest.raises(InvalidInput):
        services.queue_job(actor=people["consultant"], kind="env.npu_info", nodes=nodes,
                           engagement=engagement)


@pytest.mark.slow
@pytest.mark.skipif(bool(podman.missing()), reason=podman.missing() or "-")
def test_ranks_in_containers_meet_and_are_cancelled_together(queue, servers, enrol, people,
                                                             tmp_path):
    image = podman.make_image()
    nodes = [enrol(server.port, server.key, f"n{n}", container_engine=podman.ENGINE,
                   container_options=podman.RUN_OPTIONS) for n, server in enumerate(servers)]
    runtime = runtimes.save_runtime(actor=people["operator"], name="image", place="container",
                                    options={"image": image, "devices": "none"})
    meet = ("cat $DESK_HOSTFILE; if [ $NODE_RANK = 0 ]; then echo met | nc -l -p $MASTER_PORT;"
            " else sleep 1; nc $MASTER_ADDR $MASTER_PORT < /dev/null > met-1.txt; fi")
    job = drive(queue(meet, nodes, cards=2, runtime=runtime))
    assert job.state == JobState.SUCCEEDED, [m.technical_cause for m in members(job)]
    assert job.artifacts.get(name="met-1.txt").file.read() == b"met\n"
    assert [m.results["container"]["exit_code"] for m in members(job)] == ["0", "0"]
    job = queue("trap '' TERM; touch begun; while :; do sleep 1; done", nodes, runtime=runtime)
    drive(job, lambda job: len(list(tmp_path.glob("n*/home/desk-jobs/*/work/begun"))) == 2)
    services.cancel_job(actor=people["consultant"], job=job)
    drive(job)
    assert [m.state for m in members(job)] == [JobState.CANCELLED] * 2
    assert "desk-job" not in podman.podman("ps", "--format", "{{.Names}}")


class GangWithData(GangKind):
    """Its script finds what it needs under its name `$0`."""

    parameters = (*GangKind.parameters, Parameter("data", "data", "path"))

    def argv(self, parameters):
        return ["sh", "-c", parameters["script"], parameters["data"]]


@pytest.fixture
def queue_with_data(monkeypatch, people, engagement):
    monkeypatch.setitem(registry._kinds, GangKind.code, GangWithData())

    def go(script, nodes, content=b"weights\n", **more):
        artifact = store_file(stream=ContentFile(content), name="weights.bin",
                              engagement=engagement)
        return services.queue_job(
            actor=people["consultant"], kind=GangKind.code, nodes=nodes, engagement=engagement,
            parameters={"script": script, "data": f"desk:file/{artifact.pk}"}, **more)

    return go


def test_every_node_is_brought_the_inputs_and_again_for_a_restart(queue_with_data, nodes,
                                                                  tmp_path):
    """The first round fails on one node after it has read its file."""
    job = queue_with_data(
        f'cat "$0" >> {tmp_path}/read-$1; cp "$0" got-$1.txt; '
        f'[ -f {tmp_path}/once ] || [ "$1" = rank0 ] || {{ touch {tmp_path}/once; exit 3; }}',
        nodes, restarts=1)
    drive(job)
    assert (job.state, job.own_gang.round) == (JobState.SUCCEEDED, 2), job.sentence
    assert [len(member.inputs.all()) for member in members(job)] == [1, 1, 1, 1]
    assert [member.inputs.get().way for member in members(job)] == [
        "copied", "copied", "cached", "cached"]
    for rank in range(2):
        assert (tmp_path / f"read-rank{rank}").read_text() == "weights\nweights\n"
    for member in members(job):
        assert member.directory_name in " ".join(member.command)
    assert list(audit_log.row_differences()) == []


def test_a_job_on_several_nodes_is_cancelled_while_its_inputs_are_brought(
        queue_with_data, nodes, people):
    job = queue_with_data("true", nodes)
    Node.objects.filter(pk=nodes[1].pk).update(state=Node.State.MAINTENANCE)
    drive(job, lambda job: job.state == JobState.STAGING and nodes[1].name in job.sentence)
    services.cancel_job(actor=people["consultant"], job=job)
    drive(job)
    assert job.state == JobState.CANCELLED
    assert {member.state for member in members(job)} == {JobState.CANCELLED}
