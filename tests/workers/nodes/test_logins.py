"""Ways to a node, over OpenSSH's own server: bastion, agent, passphrase, changed key, shells."""

import asyncio

import asyncssh
import pytest
from asyncssh.misc import async_context_manager
from django.utils.translation import override

from engagements.errors import InvalidInput, WrongState
from engagements.models import AuditEntry
from tests.workers.shell_kind import ShellKind
from tests.workers.sshd import USER, can_run, make_key, running_agent, running_sshd
from workers import services
from workers.dispatch import runner
from workers.kinds import base as registry
from workers.models import Job, JobState, Node, Trouble
from workers.nodes import ssh
from workers.services import node_edits, node_logins

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True),
              pytest.mark.skipif(not can_run(), reason="needs sshd")]


@pytest.fixture
def sshd(tmp_path):
    with running_sshd(tmp_path / "sshd") as server:
        yield server
    ssh.close_all()


@pytest.fixture
def enrol(people, sshd):
    """Enrols the server; keyword arguments replace what is usual."""

    def go(**kwargs) -> Node:
        fields = {"name": "n1", "host": "127.0.0.1", "port": sshd.port, "username": USER,
                  "private_key": sshd.key, **kwargs}
        node = services.enrol_node(actor=people["operator"], **fields)
        return services.confirm_host_key(
            actor=people["operator"], node=node,
            fingerprint=ssh.fingerprint(node.offered_host_key))

    return go


@pytest.fixture
def queue(monkeypatch, people, engagement):
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())

    def go(node, script="echo ran", **kwargs) -> Job:
        return services.queue_job(actor=people["consultant"], kind="test.shell", node=node,
                                  engagement=engagement, parameters={"script": script}, **kwargs)

    return go


def looked_at(job: Job) -> Job:
    """The job after a worker has looked at it once."""
    runner.advance_while_due(job.pk)
    job.refresh_from_db()
    return job


# Ways in --------------------------------------------------------------------------

def test_job_runs_through_a_bastion(enrol, queue, tmp_path, sshd):
    with running_sshd(tmp_path / "bastion") as bastion:
        bastion.root.joinpath("client_key.pub").write_bytes(
            sshd.root.joinpath("client_key.pub").read_bytes())
        bastion.let_in("client_key")
        node = enrol(bastion_host="127.0.0.1", bastion_port=bastion.port,
                     bastion_username=USER, bastion_host_key=bastion.host_key)
        job = runner.drive(queue(node, "echo from $SSH_CLIENT"))
        log = (bastion.root / "log").read_text()
    assert (job.state, "Accepted publickey" in log) == (JobState.SUCCEEDED, True)


def test_bastion_with_another_key_is_not_passed(enrol, tmp_path, sshd):
    with running_sshd(tmp_path / "bastion") as bastion, pytest.raises(InvalidInput):
        enrol(bastion_host="127.0.0.1", bastion_port=bastion.port, bastion_username=USER,
              bastion_host_key=sshd.host_key)


def test_agent_of_the_worker_logs_in(enrol, queue, tmp_path, sshd, monkeypatch):
    with running_agent(tmp_path / "agent", sshd.root / "client_key") as socket:
        monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
        assert runner.drive(queue(enrol(private_key=""))).state == JobState.SUCCEEDED


def test_key_with_a_passphrase(enrol, queue, sshd):
    key = make_key(sshd.root / "locked", "open sesame")
    sshd.let_in("locked")
    with pytest.raises(InvalidInput):
        enrol(private_key=key, passphrase="wrong")
    node = enrol(private_key=key, passphrase="open sesame")
    assert runner.drive(queue(node)).state == JobState.SUCCEEDED


# A changed host key ---------------------------------------------------------------

def test_changed_host_key_quarantines_until_it_is_confirmed(enrol, queue, people, sshd):
    node, operator = enrol(), people["operator"]
    job = queue(node, "sleep 1; echo done")
    while job.state != JobState.RUNNING:
        looked_at(job)
    sshd.reinstall()
    ssh.close_all()
    Job.objects.filter(pk=job.pk).update(next_step_at=None)
    looked_at(job)
    node.refresh_from_db()
    assert (job.state, node.state, node.trouble) == (
        JobState.UNKNOWN, Node.State.QUARANTINED, Trouble.KEY)
    assert AuditEntry.objects.filter(action="node.quarantine").count() == 1
    with pytest.raises(WrongState):
        queue(node)
    node = services.fetch_new_host_key(actor=operator, node=node)
    assert node.state == Node.State.PENDING
    with pytest.raises(InvalidInput):
        services.confirm_host_key(actor=operator, node=node,
                                  fingerprint=ssh.fingerprint(node.host_key))
    services.confirm_host_key(actor=operator, node=node,
                              fingerprint=ssh.fingerprint(sshd.host_key))
    Job.objects.filter(pk=job.pk).update(next_step_at=None)
    assert runner.drive(job).state == JobState.SUCCEEDED


# Editing --------------------------------------------------------------------------

def test_another_address_is_confirmed_anew(enrol, people, tmp_path):
    node = enrol()
    with running_sshd(tmp_path / "other") as other:
        node = node_edits.edit_node(actor=people["operator"], node=node, port=other.port)
        assert (node.state, node.offered_host_key.split()[:2]) == (
            Node.State.PENDING, other.host_key.split()[:2])


def test_another_machine_is_refused_while_jobs_are_on_the_old_one(
        enrol, queue, people, tmp_path):
    node = enrol()
    job = queue(node, "sleep 1")
    while job.state != JobState.RUNNING:
        looked_at(job)
    with running_sshd(tmp_path / "other") as other, pytest.raises(InvalidInput):
        node_edits.edit_node(actor=people["operator"], node=node, port=other.port)
    with pytest.raises(WrongState):
        node_edits.edit_node(actor=people["operator"], node=node, scratch_dir="elsewhere")
    node.refresh_from_db()
    assert (node.state, node.scratch_dir) == (Node.State.READY, "desk-jobs")
    assert runner.drive(job).state == JobState.SUCCEEDED


def test_edit_is_audited_without_the_key(enrol, people, sshd):
    key = make_key(sshd.root / "second")
    sshd.let_in("second")
    node = node_edits.edit_node(actor=people["operator"], node=enrol(), labels="a,b",
                                private_key=key, cards_total=8)
    assert AuditEntry.objects.get(action="node.edit").data == {
        "labels": "a,b", "private_key": "replaced", "cards_total": 8}
    assert node_edits.try_login(actor=people["operator"], access=node) < 60


# Log-ins of engagements -------------------------------------------------------------

@pytest.fixture
def own_login(enrol, people, engagement, sshd):
    """A node that refuses its own key by now, and a log-in of the engagement that works."""
    node, key = enrol(), make_key(sshd.root / "engagement")
    (sshd.root / "authorized").unlink()
    sshd.let_in("engagement")
    ssh.close_all()
    people["operator"].memberships.update_or_create(engagement=engagement)
    return node_logins.add_login(actor=people["operator"], node=node, engagement=engagement,
                                 username=USER, private_key=key)


def test_jobs_of_an_engagement_use_its_log_in(own_login, queue, people):
    from workers.dispatch import node_polling

    mine = queue(own_login.node)
    of_the_node = services.queue_job(actor=people["administrator"], kind="test.shell",
                                     node=own_login.node, parameters={"script": "true"})
    node_polling.poll_nodes([own_login.node_id])
    of_the_node.refresh_from_db()
    assert (runner.drive(mine).state, of_the_node.state) == (
        JobState.SUCCEEDED, JobState.UNKNOWN)


def test_refused_log_in_of_an_engagement_leaves_the_node_reachable(own_login, queue, people, sshd):
    sshd.root.joinpath("authorized").write_text("")
    job = looked_at(queue(own_login.node))
    own_login.refresh_from_db()
    own_login.node.refresh_from_db()
    assert (job.state, own_login.refused_at is None, own_login.node.unreachable_since) == (
        JobState.UNKNOWN, False, None)


def test_log_in_with_jobs_is_neither_moved_nor_withdrawn(own_login, queue, people):
    job = queue(own_login.node)
    for write in (lambda: node_logins.withdraw_login(actor=people["operator"], login=own_login),
                  lambda: node_logins.change_login(actor=people["operator"], login=own_login,
                                                   username="other")):
        with pytest.raises(WrongState):
            write()
    runner.drive(job)
    node_logins.withdraw_login(actor=people["operator"], login=own_login)
    own_login.refresh_from_db()
    assert (own_login.private_key, queue(own_login.node).login) == ("", None)


# Bad input --------------------------------------------------------------------------

def test_banner_of_the_shell_does_no_harm(enrol, queue, sshd):
    (sshd.home / ".bashrc").write_text("echo 'Welcome to node 7'; echo desk; echo warning >&2\n")
    job = runner.drive(queue(enrol(), "printf abc > a.txt; echo out"))
    files = {a.name: a.file.read() for a in job.artifacts.all()}
    assert (job.state, files) == (JobState.SUCCEEDED, {"a.txt": b"abc", "log.txt": b"out\n"})


def test_start_up_file_that_fails_halfway_does_no_harm(enrol, queue, sshd):
    (sshd.home / ".bashrc").write_text("source /nowhere/set_env.sh\nfalse\nunknown-command\n")
    assert runner.drive(queue(enrol())).state == JobState.SUCCEEDED




@pytest.mark.parametrize("text", [
    "exit 1\n", "exec sh -c 'echo This account is not available; exit 1'\n"])
def test_start_up_file_that_ends_the_shell_is_said(enrol, queue, people, sshd, text):
    node = enrol()
    (sshd.home / ".bashrc").write_text(text)
    job = looked_at(queue(node))
    node.refresh_from_db()
    assert (job.state, node.trouble) == (JobState.UNKNOWN, Trouble.SHELL)
    with override("en"):
        assert "log-in shell does not run our commands" in job.sentence
        with pytest.raises(InvalidInput, match="log-in shell does not run our commands"):
            node_edits.try_login(actor=people["operator"], access=node)


def test_shell_that_ends_before_the_script_comes_is_said(enrol, queue, sshd, monkeypatch):
    create = asyncssh.SSHClientConnection.create_process

    @async_context_manager
    async def create_and_dawdle(*arguments, **options):
        process = await create(*arguments, **options)
        await asyncio.sleep(0.5)
        return process

    node = enrol()
    (sshd.home / ".bashrc").write_text("exit 1\n")
    monkeypatch.setattr(asyncssh.SSHClientConnection, "create_process", create_and_dawdle)
    looked_at(queue(node))
    node.refresh_from_db()
    assert node.trouble == Trouble.SHELL


def test_slow_start_up_file_is_measured(enrol, people, sshd):
    from django.utils import timezone

    from workers.nodes.conditions import SLOW_SHELL, condition_of

    node = enrol()
    (sshd.home / ".bashrc").write_text("sleep 0.4\n")
    node_edits.try_login(actor=people["operator"], access=node)
    node.refresh_from_db()
    assert node.shell_seconds >= 0.4
    node.shell_seconds = SLOW_SHELL
    with override("en"):
        found = condition_of(node, timezone.now()).reasons
    assert [reason.level for reason in found
            if "takes 1.0 s before it runs a command" in reason.sentence] == ["warning"]


def test_wrong_key_is_said(enrol, people, sshd):
    node = enrol(private_key=make_key(sshd.root / "stranger"))
    with override("en"), pytest.raises(InvalidInput, match="refuses the log-in of"):
        node_edits.try_login(actor=people["operator"], access=node)


def test_scratch_folder_that_vanishes_is_said(enrol, queue, sshd):
    """Removed while the job runs: lost, with the sentence; nothing of it is left running."""
    import shutil

    job = queue(enrol(), "sleep 0.5")
    while job.state != JobState.RUNNING:
        looked_at(job)
    shutil.rmtree(sshd.home / "desk-jobs")
    job = runner.drive(job)
    with override("en"):
        assert (job.state, job.sentence) == (
            JobState.LOST, "The job's folder on the node has vanished, and nothing of it runs.")


def test_a_key_that_does_not_open_the_node_replaces_nothing(enrol, people, sshd):
    node = enrol()
    before = Node.objects.get(pk=node.pk).private_key
    with pytest.raises(InvalidInput):
        node_edits.edit_node(actor=people["operator"], node=node,
                             private_key=make_key(sshd.root / "unauthorised"))
    assert Node.objects.get(pk=node.pk).private_key == before
