"""Nodes of one job: OpenSSH's own servers on loopback ports, and a kind that runs on several."""

import time
from contextlib import ExitStack

import pytest

from tests.workers.sshd import USER, running_sshd
from workers import services
from workers.dispatch import node_polling, runner
from workers.kinds import Finished, JobKind, Judgement, Parameter
from workers.kinds import base as registry
from workers.models import Job
from workers.nodes import ssh


class GangKind(JobKind):
    """A shell script on every node."""

    code, title, needs_model, spans_nodes = "test.gang", "gang", False, True
    collect = ("*.txt",)
    parameters = (Parameter("script", "script"), Parameter("cards", "cards", "integer", default=0))

    def argv(self, parameters):
        return ["sh", "-c", parameters["script"]]

    def argv_on(self, parameters, meeting):
        return [*self.argv(parameters), f"rank{meeting.rank}"]

    def judge(self, finished: Finished) -> Judgement:
        return Judgement(finished.exit_status == 0, "files %(files)s",
                         {"files": ", ".join(finished.files)})


@pytest.fixture
def enrol(people):
    """Enrols a server as a node; several stand on one machine, so each is a practice node."""

    def go(port, key, name, host="127.0.0.1", **fields):
        node = services.enrol_node(
            cards_total=8, actor=people["operator"], name=name, host=host, port=port, username=USER,
            private_key=key, is_practice=True, **fields)
        return services.confirm_host_key(actor=people["operator"], node=node,
                                         fingerprint=ssh.fingerprint(node.offered_host_key))

    return go


@pytest.fixture
def servers(tmp_path, request):
    with ExitStack() as stack:
        count = getattr(request, "param", 2)
        yield [stack.enter_context(running_sshd(tmp_path / f"n{n}")) for n in range(count)]
        ssh.close_all()


@pytest.fixture
def nodes(servers, enrol):
    return [enrol(server.port, server.key, f"n{n}") for n, server in enumerate(servers)]


@pytest.fixture
def queue(people, engagement, monkeypatch):
    """Queues a shell script as one job on several nodes."""
    monkeypatch.setitem(registry._kinds, GangKind.code, GangKind())

    def go(script, nodes, cards=0, **more):
        return services.queue_job(actor=people["consultant"], kind=GangKind.code, nodes=nodes,
                                  engagement=engagement,
                                  parameters={"script": script, "cards": cards}, **more)

    return go


def drive(job: Job, until=lambda job: job.is_final, timeout=60) -> Job:
    """Do what the worker's clock does, until something is true of the job."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        for pk in node_polling.due_jobs():
            runner.advance_while_due(pk)
        for some in node_polling.due_nodes():
            if some:
                node_polling.poll_nodes(some)
        job.refresh_from_db()
        if until(job):
            return job
        time.sleep(0.1)
    raise TimeoutError(f"{job} is still {job.state}: {job.sentence}\n" + "\n".join(
        f"{each.rank} {each.state} {each.sentence}" for each in members(job)))


def members(job: Job) -> list[Job]:
    return list(job.own_gang.members.order_by("attempt", "rank"))
