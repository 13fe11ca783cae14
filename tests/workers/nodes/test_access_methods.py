"""Certificates and chains of jump hosts over OpenSSH's own server; a password used once."""

import asyncio
import os
import subprocess
from pathlib import Path

import asyncssh
import pytest
from django.urls import reverse

from engagements.errors import InvalidInput, WrongState
from engagements.models import AuditEntry, Role
from tests.workers import sshd
from tests.workers.sshd import USER, can_run, make_key, running_sshd
from workers import services
from workers.models import Node
from workers.nodes import ssh
from workers.services import key_installation, node_edits

pytestmark = [pytest.mark.django_db(transaction=True),
              pytest.mark.skipif(not can_run(), reason="needs sshd")]


@pytest.fixture(autouse=True)
def _closed():
    yield
    ssh.close_all()


@pytest.fixture
def enrol(people):
    def go(server, **kwargs) -> Node:
        node = services.enrol_node(actor=people[Role.OPERATOR], **{
            "name": "n1", "host": "127.0.0.1", "port": server.port, "username": USER,
            "private_key": server.key, **kwargs})
        return services.confirm_host_key(actor=people[Role.OPERATOR], node=node,
                                         fingerprint=ssh.fingerprint(node.offered_host_key))

    return go


def signed(folder, name: str, principals: str = USER, validity: str = "+1h") -> str:
    """The certificate that the authority `ca` gives to a key."""
    if not (folder / "ca").exists():
        make_key(folder / "ca")
    subprocess.run(["ssh-keygen", "-q", "-s", folder / "ca", "-I", "desk-1", "-n", principals,
                    "-V", validity, folder / f"{name}.pub"], check=True, capture_output=True)
    return (folder / f"{name}-cert.pub").read_text()


@pytest.mark.slow
def test_certificate_opens_a_node_that_trusts_only_an_authority(enrol, people, tmp_path, client):
    operator = people[Role.OPERATOR]
    key, other = make_key(tmp_path / "user"), make_key(tmp_path / "other")
    certificate = signed(tmp_path, "user")
    with running_sshd(tmp_path / "sshd") as server:
        server.stop()
        server.more = f"TrustedUserCAKeys {tmp_path}/ca.pub\nAuthorizedKeysFile none\n"
        server.root.joinpath("authorized").unlink()
        server.start()
        node = enrol(server, private_key=key, certificate=certificate)
        assert node_edits.try_login(actor=operator, access=node) > 0
        client.force_login(operator)
        assert b"desk-1" in client.get(reverse("workers:node", args=[node.pk])).content
        expired = signed(tmp_path, "user", validity="-2h:-1h")
        node = node_edits.edit_node(actor=operator, node=node, certificate=expired)
        with pytest.raises(InvalidInput):
            node_edits.try_login(actor=operator, access=node)
        for wrong in ({"private_key": other}, {"certificate": "ssh-ed25519 AAAA"},
                      {"certificate": (tmp_path / "user.pub").read_text()}):
            with pytest.raises(InvalidInput):
                node_edits.edit_node(actor=operator, node=node, **wrong)


@pytest.mark.slow
def test_chain_of_jump_hosts_is_passed_in_order_and_each_key_is_pinned(enrol, people, tmp_path):
    with running_sshd(tmp_path / "node") as server, running_sshd(tmp_path / "first") as first, \
            running_sshd(tmp_path / "second") as second, running_sshd(tmp_path / "third") as third:
        for jump in (first, second, third):
            (jump.root / "node_key.pub").write_bytes(
                (server.root / "client_key.pub").read_bytes())
            jump.let_in("node_key")
        chain = [f"{USER}@127.0.0.1:{jump.port} {jump.host_key}" for jump in (second, third)]
        bastion = {"bastion_host": "127.0.0.1", "bastion_port": first.port,
                   "bastion_username": USER, "bastion_host_key": first.host_key}
        node = enrol(server, **bastion, jump_hosts="\n".join(chain))
        answer = ssh.run(node, "echo from $SSH_CLIENT")
        logs = [(jump.root / "log").read_text() for jump in (first, second, third)]
        assert answer.stdout.startswith(b"from 127.0.0.1")
        assert all("Accepted publickey" in log for log in logs)
        wrong = f"{USER}@127.0.0.1:{third.port} {second.host_key}"
        for text in (f"{chain[0]}\n{wrong}", "no key", "\n".join(chain * 4)):
            with pytest.raises(InvalidInput):
                node_edits.edit_node(actor=people[Role.OPERATOR], node=node, jump_hosts=text)


class _PasswordServer(asyncssh.SSHServer):
    """Takes a password, and the keys of a file as OpenSSH does."""

    authorized, password, asked = None, "correct horse", []

    def begin_auth(self, username):
        return True

    def password_auth_supported(self):
        return True

    def public_key_auth_supported(self):
        return True

    def validate_password(self, username, password):
        self.asked.append(password)
        return password == self.password

    def validate_public_key(self, username, key):
        text = self.authorized.read_text() if self.authorized.exists() else ""
        return any(asyncssh.import_public_key(line) == key for line in text.splitlines() if line)


@pytest.fixture
def password_server(tmp_path):
    """A server for passwords: OpenSSH's own would need a system user with one."""
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    _PasswordServer.authorized, _PasswordServer.asked = home / ".ssh/authorized_keys", []
    _PasswordServer.authorized.write_text(
        asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode().strip())

    async def shell(process):
        child = await asyncio.create_subprocess_shell(
            process.command, stdin=-1, stdout=-1, stderr=-1,
            env={"HOME": str(home), "PATH": "/usr/bin:/bin"})
        await process.redirect(child.stdin, child.stdout, child.stderr)
        process.exit(await child.wait())

    loop = ssh._current_loop()
    listener = loop.call(asyncssh.listen(
        "127.0.0.1", 0, server_factory=_PasswordServer, encoding=None, process_factory=shell,
        server_host_keys=[asyncssh.generate_private_key("ssh-ed25519")]), 20)
    yield listener
    loop.loop.call_soon_threadsafe(listener.close)


@pytest.fixture
def keyed(people, password_server):
    """A node that was let in with a password."""
    operator = people[Role.OPERATOR]
    node = services.enrol_node(actor=operator, name="n1", host="127.0.0.1", username="root",
                               port=password_server.get_port())
    services.confirm_host_key(actor=operator, node=node,
                              fingerprint=ssh.fingerprint(node.offered_host_key))
    key_installation.install_key(actor=operator, node=Node.objects.get(),
                                 password="correct horse")
    return node_edits.try_login(actor=operator, access=Node.objects.get()) and Node.objects.get()


def keys() -> list[str]:
    return [line.split()[1] for line in _PasswordServer.authorized.read_text().splitlines()]


@pytest.mark.slow
def test_keys_are_rotated_one_by_one_and_each_is_tried_before_the_old_one_goes(
        people, keyed, client):
    before, old = keys(), keyed.private_key
    dead = Node.objects.create(name="n2", host="127.0.0.1", port=1, username="root",
                               private_key=old, host_key=keyed.host_key, state="ready")
    client.force_login(people[Role.OPERATOR])
    page = client.post(reverse("workers:node_bulk"), {
        "action": "keys", "keys-nodes": [keyed.pk, dead.pk], "keys-is_understood": "on"})
    assert [(row.node.name, bool(row.refusal)) for row in page.context["outcomes"]] == [
        ("n1", False), ("n2", True)]
    keyed.refresh_from_db()
    dead.refresh_from_db()
    assert (keyed.private_key != old, dead.private_key == old) == (True, True)
    assert (keys()[0], len(keys()), before[1] in keys()) == (before[0], 2, False)
    assert node_edits.try_login(actor=people[Role.OPERATOR], access=keyed) > 0
    assert AuditEntry.objects.filter(action="node.rotate_key").count() == 1


def test_a_key_that_does_not_open_the_node_leaves_everything_as_it_was(
        people, keyed, monkeypatch):
    before, old = keys(), keyed.private_key

    def refused(_node):
        raise ssh.LoginRefused("no")

    monkeypatch.setattr(ssh, "shell_seconds", refused)
    with pytest.raises(InvalidInput):
        key_installation.rotate_key(actor=people[Role.OPERATOR], node=keyed)
    assert (keys(), Node.objects.get().private_key) == (before, old)


@pytest.mark.slow
def test_password_is_used_once_and_kept_nowhere(people, password_server, client):
    operator = people[Role.OPERATOR]
    node = services.enrol_node(actor=operator, name="n1", host="127.0.0.1", username="root",
                               port=password_server.get_port())
    with pytest.raises(WrongState):  # before its host key is pinned
        key_installation.install_key(actor=operator, node=node, password="correct horse")
    assert _PasswordServer.asked == []
    node = services.confirm_host_key(actor=operator, node=node,
                                     fingerprint=ssh.fingerprint(node.offered_host_key))
    with pytest.raises(InvalidInput):
        key_installation.install_key(actor=operator, node=node, password="wrong")
    assert Node.objects.get().private_key == ""
    client.force_login(operator)
    client.post(reverse("workers:node_install_key", args=[node.pk]),
                {"password": "correct horse"})
    node.refresh_from_db()
    assert node_edits.try_login(actor=operator, access=node) > 0
    key_installation.install_key(actor=operator, node=node, password="correct horse")
    lines = _PasswordServer.authorized.read_text().splitlines()
    assert (len(lines), "delivery-desk" in lines[1]) == (2, True), "added once, the other stays"
    assert "correct horse" not in str([
        *Node.objects.values(), *AuditEntry.objects.values("data", "rows")])


@pytest.mark.slow
@pytest.mark.skipif(os.getuid() != 0, reason="a password that only one server knows needs root")
def test_a_password_lets_the_key_in_over_opensshs_own_server(people, tmp_path, monkeypatch):
    """The server sees a password file of its own in place of the machine's."""
    digest = subprocess.run(["openssl", "passwd", "-6", "correct horse"], check=True,
                            capture_output=True, text=True).stdout.strip()
    shadow = tmp_path / "shadow"
    shadow.write_text("".join(
        f"{USER}:{digest}:20000:0:99999:7:::\n" if line.startswith(f"{USER}:") else line
        for line in Path("/etc/shadow").read_text().splitlines(keepends=True)))
    monkeypatch.setattr(sshd, "CONFIG", (
        "PermitRootLogin yes\nPasswordAuthentication yes\n"
        "AuthorizedKeysFile {root}/home/.ssh/authorized_keys\n") + sshd.CONFIG)
    server = sshd.Sshd(tmp_path / "sshd")
    server.prefix = ["unshare", "--mount", "sh", "-ec",
                     f'mount --bind {shadow} /etc/shadow; exec "$@"', "sh"]
    server.start()
    try:
        operator = people[Role.OPERATOR]
        node = services.enrol_node(actor=operator, name="n1", host="127.0.0.1", username=USER,
                                   port=server.port)
        node = services.confirm_host_key(actor=operator, node=node,
                                         fingerprint=ssh.fingerprint(node.offered_host_key))
        assert node.state == Node.State.UNTRIED
        with pytest.raises(InvalidInput, match="Permission denied"):
            key_installation.install_key(actor=operator, node=node, password="wrong")
        node = key_installation.install_key(actor=operator, node=node, password="correct horse")
        node_edits.try_login(actor=operator, access=node)
        node.refresh_from_db()
        log = (server.root / "log").read_text()
    finally:
        server.stop()
    assert (node.state, "Accepted password" in log, "Accepted publickey" in log) == (
        Node.State.READY, True, True)
