"""Certificates and chains of jump hosts over OpenSSH's own server; a password used once."""

import asyncio
import subprocess

import asyncssh
import pytest
from django.urls import reverse

from engagements.errors import InvalidInput, WrongState
from engagements.models import AuditEntry, Role
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
