"""What goes wrong between the desk and OpenSSH's own server is told as what was seen."""

import re
import socket
import subprocess
import threading

import pytest
from django.utils.translation import override

from engagements.errors import InvalidInput
from engagements.models import Role
from tests.workers.shell_kind import ShellKind
from tests.workers.sshd import USER, can_run, make_key, running_sshd
from workers import services
from workers.dispatch import node_polling, runner
from workers.kinds import base as registry
from workers.logs import diagnosis
from workers.models import Job, JobState, Trouble
from workers.nodes import absence_causes, reachability, ssh
from workers.services import node_edits, node_logins

pytestmark = [pytest.mark.django_db(transaction=True),
              pytest.mark.skipif(not can_run(), reason="needs sshd")]


@pytest.fixture
def server(tmp_path):
    with running_sshd(tmp_path / "sshd") as server:
        yield server
    ssh.close_all()


@pytest.fixture
def node(people, server):
    node = services.enrol_node(
        actor=people[Role.OPERATOR], name="n1", host="127.0.0.1", port=server.port, username=USER,
        private_key=server.key)
    return services.confirm_host_key(actor=people[Role.OPERATOR], node=node,
                                     fingerprint=ssh.fingerprint(node.offered_host_key))


@pytest.fixture
def configured(server):
    """Restarts the server with further lines of its configuration."""

    def go(lines):
        ssh.close_all()
        server.stop()
        server.more = lines + "\n"
        server.start()

    return go


def sentence_of_trial(people, node) -> str:
    with override("en"), pytest.raises(InvalidInput) as error:
        node_edits.try_login(actor=people[Role.OPERATOR], access=node)
    return error.value.message


@pytest.mark.slow
def test_many_sessions_at_once_where_sshd_lets_one_be_per_connection(node, configured):
    configured("MaxSessions 1")
    answers = []
    together = threading.Barrier(6)

    def ask(number):
        together.wait()
        answers.append(ssh.run(node, f"sleep 0.2; echo {number}\n").stdout)

    threads = [threading.Thread(target=ask, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [b"%d\n" % number for number in range(6)]
    assert ssh.sessions_at_once(node) == 1


def test_without_a_limit_one_connection_serves_all(node, server):
    assert ssh.sessions_at_once(node) is None
    assert (server.root / "log").read_text().count("Accepted publickey") == 1


@pytest.mark.parametrize(("lines", "trouble", "sentence"), [
    ("MaxSessions 0", Trouble.CHANNEL, "opens no session: look at MaxSessions"),
    ("Ciphers aes128-cbc", Trouble.ALGORITHM,
     "no common encryption algorithm; the node offers aes128-cbc"),
    ("KexAlgorithms diffie-hellman-group1-sha1", Trouble.ALGORITHM,
     "no common key exchange algorithm; the node offers diffie-hellman-group1-sha1"),
    ("PubkeyAuthentication no", Trouble.LOGIN, f"refuses the log-in of {USER}"),
    ("ForceCommand /usr/sbin/nologin", Trouble.SHELL,
     "did not run our script and printed: This account is currently not available."),
])
def test_each_refusal_is_told_apart(people, node, configured, lines, trouble, sentence):
    configured(lines)
    told = sentence_of_trial(people, node)
    node.refresh_from_db()
    assert sentence in told
    assert "does not answer" not in told
    assert node.trouble == trouble


def test_a_server_with_another_algorithm_is_named_when_it_is_enrolled(people, server, configured):
    configured("Ciphers aes128-cbc")
    with override("en"), pytest.raises(InvalidInput) as error:
        services.enrol_node(actor=people[Role.OPERATOR], name="n1", host="127.0.0.1",
                            port=server.port, username=USER, private_key=server.key)
    assert "the node offers aes128-cbc" in error.value.message


@pytest.mark.slow
def test_a_command_that_does_not_end_is_no_absence(people, node):
    ssh.run(node, "true\n")
    with pytest.raises(ssh.CommandTimedOut):
        ssh.run(node, "sleep 20\n", 0.5)


def test_nothing_listens(people, node, server):
    ssh.close_all()
    server.stop()
    assert sentence_of_trial(people, node).endswith(
        "does not answer over SSH (The machine answers, but no SSH server listens on the port).")


@pytest.mark.slow
@pytest.mark.parametrize(("greeting", "told"), [
    (b"", "The node did not answer in time"), (b"SSH-1.5-old\r\n", "is no SSH server")])
def test_people_read_sentences_and_no_names_of_exceptions(
        people, node, server, monkeypatch, greeting, told):
    ssh.close_all()
    server.stop()
    monkeypatch.setattr(ssh, "LOGIN_TIMEOUT", 0.3)
    with socket.create_server(("127.0.0.1", server.port)) as other:
        threading.Thread(target=lambda: other.accept()[0].sendall(greeting), daemon=True).start()
        sentence = sentence_of_trial(people, node)
    node.refresh_from_db()
    assert told in sentence
    assert not re.search(r"Error|Lost|NotBegun", sentence + node.last_error)


def test_log_ins_that_sshd_drops_are_tried_again(people, node, configured, server, monkeypatch):
    configured("MaxStartups 1\nLoginGraceTime 60")
    monkeypatch.setattr(ssh, "PAUSES", ())
    with socket.create_connection(("127.0.0.1", server.port)):
        assert "MaxStartups" in sentence_of_trial(people, node)
        cause = absence_causes.cause_of("NotBegun: x")
        assert "jump host" not in cause.sentence
        monkeypatch.setattr(ssh, "PAUSES", (0.01,) * 1000)
        done = []
        waiting = threading.Thread(target=lambda: done.append(ssh.run(node, "echo in\n").stdout))
        waiting.start()
    waiting.join()
    assert done == [b"in\n"]


def test_a_jump_host_is_named_only_where_there_is_one(people, server, tmp_path):
    with running_sshd(tmp_path / "jump") as jump:
        jump.stop()
        jump.more = "AllowTcpForwarding no\n"
        jump.start()
        with override("en"), pytest.raises(InvalidInput) as error:
            services.enrol_node(
                actor=people[Role.OPERATOR], name="n2", host="127.0.0.1", port=server.port,
                username=USER, private_key=jump.key, bastion_host="127.0.0.1",
                bastion_port=jump.port, bastion_host_key=jump.host_key)
    assert error.value.message.startswith("The jump host lets us in, but opens no connection")
    for other in ("ChannelRefused: the node's sshd opens no session: open failed",
                  "NoAlgorithm: no common encryption algorithm"):
        assert "jump host" not in absence_causes.cause_of(other).sentence


@pytest.mark.parametrize(("printed", "told"), [
    ("HTTPSConnectionPool(host='k', port=6443): Max retries exceeded with url: /api (Caused by "
     "NewConnectionError('<urllib3.connection.HTTPSConnection object at 0x7f>: Failed to establish "
     "a new connection: [Errno 111] Connection refused'))", "[Errno 111] Connection refused"),
    ("HTTPSConnectionPool(host='k', port=6443): Read timed out. (read timeout=10)",
     "Read timed out"),
    ("HTTPSConnectionPool(host='k', port=6443): Max retries exceeded with url: /api (Caused by "
     "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify "
     "failed: self-signed certificate (_ssl.c:1006)')))",
     "certificate verify failed: self-signed certificate"),
    ("Expecting value: line 1 column 1 (char 0)", "Expecting value: line 1 column 1 (char 0)"),
])
def test_a_cluster_that_does_not_answer_is_told_without_the_names_of_libraries(printed, told):
    assert str(reachability.scheduler_away(ValueError(printed))) == told


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["desk data", "desk start desk-job-1 started 1 1 1",
                                   "desk entries", "desk left 0"])
def test_words_of_ours_in_a_start_up_file_are_not_taken_for_an_answer(
        people, engagement, node, server, monkeypatch, noise):
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())
    (server.home / ".bashrc").write_text(f"echo '{noise}'\n")
    server.stop()
    server.more = f"ForceCommand . {server.home}/.bashrc; eval \"$SSH_ORIGINAL_COMMAND\"\n"
    server.start()
    job = runner.drive(services.queue_job(
        actor=people["consultant"], kind="test.shell", node=node, engagement=engagement,
        parameters={"script": "echo 1 > a.txt; head -c 5000000 /dev/zero > b.txt"}))
    assert job.state == JobState.SUCCEEDED, job.technical_cause
    assert {a.name: a.size for a in job.artifacts.all()} == {
        "a.txt": 2, "b.txt": 5_000_000}


def test_a_job_whose_start_no_shell_ran_fails_as_that(
        people, engagement, node, configured, monkeypatch):
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())
    job = services.queue_job(actor=people["consultant"], kind="test.shell", node=node,
                             engagement=engagement, parameters={"script": "true"})
    configured("ForceCommand /usr/sbin/nologin")
    node_polling.poll_nodes([node.pk])
    job.refresh_from_db()
    assert job.state == JobState.FAILED
    assert job.message.startswith("The job was never started")
    assert "This account is currently not available" in job.technical_cause


@pytest.mark.slow
def test_a_running_job_of_a_node_without_a_shell_stays_unknown(
        people, engagement, node, configured, monkeypatch):
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())
    job = services.queue_job(actor=people["consultant"], kind="test.shell", node=node,
                             engagement=engagement, parameters={"script": "sleep 60"})
    node_polling.poll_nodes([node.pk])
    configured("MaxSessions 0")
    Job.objects.filter(pk=job.pk).update(next_step_at=job.created_at)
    node_polling.poll_nodes([node.pk])
    job.refresh_from_db()
    with override("en"):
        assert (job.state, "opens no session" in job.sentence) == (JobState.UNKNOWN, True)
        assert "jump host" not in str(diagnosis.presented(job))
    configured("")
    services.cancel_job(actor=people["consultant"], job=job)
    assert runner.drive(job).state == JobState.CANCELLED


@pytest.mark.slow
def test_keys_that_cannot_be_used_are_told_apart(tmp_path):
    key, locked = make_key(tmp_path / "key"), make_key(tmp_path / "locked", "correct horse")
    x25519 = subprocess.run(["openssl", "genpkey", "-algorithm", "X25519"], check=True,
                            capture_output=True, text=True).stdout
    cases = [((tmp_path / "key.pub").read_text(), "", "This is a public key."),
             (locked, "", "passphrase, which is missing"),
             (locked, "wrong", "The passphrase does not open"),
             (x25519, "", "not supported (Unknown PKCS#8 algorithm)"),
             ("PuTTY-User-Key-File-3: ssh-ed25519\n", "", "PuTTYgen"),
             (key[:120], "", "no whole private key")]
    for text, passphrase, expected in cases:
        with override("en"), pytest.raises(InvalidInput) as error:
            node_logins.require_usable_key(text, passphrase)
        assert expected in error.value.message
    node_logins.require_usable_key(locked, "correct horse")
