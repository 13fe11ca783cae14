"""A node gets jobs once it was tried, over OpenSSH's own server."""

import subprocess

import pytest
from django.utils import timezone
from django.utils.translation import override

from engagements.errors import InvalidInput
from engagements.models import Role
from tests.workers.shell_kind import ShellKind
from tests.workers.sshd import USER, can_run, make_key, running_sshd
from workers import services
from workers.kinds import base as registry
from workers.models import Node
from workers.nodes import reachability, ssh
from workers.nodes.conditions import condition_of
from workers.remote import replies
from workers.runtimes import offers
from workers.services import node_edits, node_logins

pytestmark = [pytest.mark.django_db(transaction=True),
              pytest.mark.skipif(not can_run(), reason="needs sshd")]
NPU_SMI = """#!/bin/sh
cat <<END
+----------------------------------------------------------------------------------------+
| npu-smi 24.1.0                   Version: 24.1.0                                       |
+---------------------------+---------------+--------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)     Hugepages-Usage(page) |
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB) |
+===========================+===============+============================================+
| 0     910B3               | OK            | 90.1        45             0    / 0        |
| 0                         | 0000:C1:00.0  | 0           0    / 0      3400 / 65536     |
+===========================+===============+============================================+
| 1     910B3               | OK            | 91.0        46             0    / 0        |
| 0                         | 0000:C2:00.0  | 0           0    / 0      3400 / 65536     |
+===========================+===============+============================================+
END
"""


@pytest.fixture
def server(tmp_path):
    with running_sshd(tmp_path / "sshd", PATH=f"{tmp_path}/sshd/home/bin:/usr/bin:/bin"
                      ) as server:
        (server.home / "bin").mkdir()
        yield server
    ssh.close_all()


@pytest.fixture
def confirmed(people, server):
    def go(**fields) -> Node:
        node = services.enrol_node(
            actor=people[Role.OPERATOR], name="n1", host="127.0.0.1", port=server.port,
            username=USER, private_key=server.key, **fields)
        return services.confirm_host_key(
            actor=people[Role.OPERATOR], node=node,
            fingerprint=ssh.fingerprint(node.offered_host_key))

    return go


def put(server, name: str, text: str) -> None:
    (server.home / "bin" / name).write_text(text)
    (server.home / "bin" / name).chmod(0o755)


def said(node: Node) -> str:
    with override("en"):
        return "\n".join(reason.sentence for reason in condition_of(node, timezone.now()).reasons)


@pytest.mark.slow
def test_cards_clock_and_sessions_are_read(confirmed, server):
    put(server, "npu-smi", NPU_SMI)
    put(server, "date", "#!/bin/sh\nexec /usr/bin/date -d '+2 hours' \"$@\"\n")
    server.stop()
    server.more = "MaxSessions 1\n"
    server.start()
    node = confirmed()
    assert (node.state, node.cards_total, node.sessions_at_once) == ("ready", 2, 1)
    assert [card.chip_name for card in node.cards.all()] == ["910B3", "910B3"]
    assert abs(node.clock_offset_seconds - 7200) < 120
    assert "The node's clock differs from ours by 7" in said(node)
    assert "lets only 1 session be open" in said(node)


def test_a_clock_that_changes_is_seen_soon_after_the_last_answer(confirmed):
    node = confirmed()
    reachability.seen(node)
    later = timezone.now() + timezone.timedelta(hours=2)
    reachability.seen(node, replies.RemoteState(
        True, None, "alive", None, later, 0, "boot", 0, b"", ""))
    node.refresh_from_db()
    assert node.clock_offset_seconds > 7000


@pytest.mark.slow
@pytest.mark.parametrize(("lines", "scratch", "sentence"), [
    ("ForceCommand /usr/sbin/nologin", "desk-jobs", "log-in shell does not run our commands"),
    ("PubkeyAuthentication no", "desk-jobs", "refuses the log-in"),
    ("MaxSessions 0", "desk-jobs", "opens no session"),
    ("", "/proc/desk-jobs", "The scratch folder of the node cannot be written."),
])
def test_what_does_not_pass_is_not_ready(
        people, engagement, confirmed, server, monkeypatch, lines, scratch, sentence):
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())
    server.stop()
    server.more = lines + "\n"
    server.start()
    node = confirmed(scratch_dir=scratch)
    assert node.state == Node.State.UNTRIED
    assert "no job starts here" in said(node)
    with override("en"), pytest.raises(InvalidInput) as error:
        node_edits.try_login(actor=people[Role.OPERATOR], access=node)
    assert sentence in error.value.message
    ssh.close_all()
    server.stop()
    server.more = ""
    server.start()
    if not lines:
        node = node_edits.edit_node(actor=people[Role.OPERATOR], node=node,
                                    scratch_dir="desk-jobs")
    node_edits.try_login(actor=people[Role.OPERATOR], access=node)
    node.refresh_from_db()
    assert node.state == Node.State.READY


@pytest.mark.slow
def test_a_node_that_lets_in_an_engagement_alone_is_tried_with_its_log_in(
        people, engagement, confirmed, server):
    """Its own key is no longer authorised; what is found is the node's all the same."""
    own = make_key(server.root / "of_engagement")
    (server.root / "authorized").unlink()
    server.let_in("of_engagement")
    put(server, "npu-smi", NPU_SMI)
    node = confirmed()
    assert (node.state, node.cards_total) == (Node.State.UNTRIED, None)
    login = node_logins.add_login(actor=people[Role.OPERATOR], node=node, engagement=engagement,
                                  username=USER, private_key=own)
    assert "Try" in said(node)
    node_edits.try_login(actor=people[Role.OPERATOR], access=login)
    node.refresh_from_db()
    assert (node.state, node.cards_total) == (Node.State.READY, 2)


@pytest.mark.slow
@pytest.mark.parametrize("state", [Node.State.MAINTENANCE, Node.State.QUARANTINED])
def test_a_log_in_that_passes_takes_no_node_out_of_another_state(
        people, engagement, confirmed, server, state):
    node = confirmed()
    login = node_logins.add_login(actor=people[Role.OPERATOR], node=node, engagement=engagement,
                                  username=USER, private_key=server.key)
    Node.objects.filter(pk=node.pk).update(state=state)
    node_edits.try_login(actor=people[Role.OPERATOR], access=login)
    node.refresh_from_db()
    assert node.state == state


def test_a_job_for_cards_that_are_not_there_is_refused_at_once(
        people, engagement, confirmed, monkeypatch):
    monkeypatch.setitem(registry._kinds, ShellKind.code, ShellKind())
    node = confirmed()
    assert node.cards_total is None
    assert "How many cards the node has is not known" in said(node)

    def refusal() -> str:
        with override("en"), pytest.raises(InvalidInput) as error:
            services.queue_job(actor=people["consultant"], kind="test.shell", node=node,
                               engagement=engagement, parameters={"script": "true", "cards": 1})
        return error.value.message

    assert "How many cards the node n1 has is not known" in refusal()
    node = node_edits.edit_node(actor=people[Role.OPERATOR], node=node, cards_total=0)
    assert refusal() == "The job wants 1 card; the node n1 has 0."


def test_a_look_for_runtimes_leaves_no_process_behind(tmp_path):
    note = tmp_path / "left"
    tool = tmp_path / "podman"
    tool.write_text("#!/bin/sh\nsetsid sleep 600 > /dev/null 2>&1 &\n"
                    f"echo $! >> {note}\necho 4.3\n")
    tool.chmod(0o755)
    answer = subprocess.run(["sh", "-s"], input=offers.script(Node()).encode(), check=True,
                            capture_output=True, env={"PATH": f"{tmp_path}:/usr/bin:/bin",
                                                      "HOME": str(tmp_path)}).stdout
    assert b"desk offer engine podman 4.3" in answer
    left = note.read_text().split()
    assert left
    for number in left:
        state = subprocess.run(["ps", "-o", "stat=", "-p", number], check=False,
                               capture_output=True, text=True).stdout.strip()
        assert state[:1] in ("", "Z"), "it still runs"
