"""A password used once, to let the desk's key in. It is not stored, logged or audited."""

import asyncssh
from django.db import transaction
from django.utils.translation import gettext as _

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import User
from workers.models import Node
from workers.nodes import ssh

SCRIPT = """umask 077
mkdir -p "$HOME/.ssh" && cd "$HOME/.ssh" || exit 1
line={line}
if ! grep -qxF "$line" authorized_keys 2>/dev/null; then
    [ ! -s authorized_keys ] || [ -z "$(tail -c 1 authorized_keys)" ] || echo >> authorized_keys
    echo "$line" >> authorized_keys || exit 1
fi
command -v restorecon >/dev/null 2>&1 && restorecon -R . 2>/dev/null
echo "desk key installed"
"""


def install_key(*, actor: User, node: Node, password: str) -> Node:
    """Log in with the password once and add the node's public key to `authorized_keys`.

    A node without a stored key gets a new one, which is kept once it has opened the node. The host
    key must be pinned before: a password is told to no machine that nobody has looked at.
    Raises WrongState without a pinned key, InvalidInput where the password or the key is refused.
    """
    require(actor, Can.OPERATE)
    if not node.host_key:
        raise WrongState(_("Confirm the host key of the node first."))
    key = _stored_key(node) or asyncssh.generate_private_key("ssh-ed25519", "delivery-desk")
    public = key.export_public_key("openssh").decode().strip()
    try:
        line = "'" + public.replace("'", "'\\''") + "'"
        answer = ssh.run_with_password(node, password, SCRIPT.format(line=line))
    except (ssh.Unreachable, ssh.HostKeyChanged, ssh.LoginRefused) as error:
        raise InvalidInput(_("The password did not open the node (%(why)s).")
                           % {"why": error}) from error
    if b"desk key installed" not in answer.stdout:
        raise InvalidInput(_("The key could not be written into authorized_keys (%(why)s).")
                           % {"why": answer.stderr[-200:].decode(errors="replace").strip()})
    return _keep(actor, node, key)


def _stored_key(node: Node) -> asyncssh.SSHKey | None:
    if not node.private_key:
        return None
    return asyncssh.import_private_key(node.private_key, node.passphrase or None)


def _keep(actor: User, node: Node, key: asyncssh.SSHKey) -> Node:
    """Keep the key if it opens the node by itself."""
    private = node.private_key or key.export_private_key("openssh").decode()
    trial = Node.objects.get(pk=node.pk)
    trial.private_key, trial.certificate = private, ""
    try:
        ssh.shell_seconds(trial)
    except (ssh.Unreachable, ssh.HostKeyChanged, ssh.LoginRefused) as error:
        raise InvalidInput(_(
            "The key was written into authorized_keys, but does not open the node (%(why)s): look "
            "at PubkeyAuthentication and AuthorizedKeysFile of its sshd, and at the bastion.")
            % {"why": error}) from error
    with transaction.atomic():
        locked = Node.objects.select_for_update(of=("self",), no_key=True).get(pk=node.pk)
        locked.private_key = private
        locked.save(update_fields=["private_key"])
        audit_log.record(actor=actor, action="node.install_key", target=locked,
                         data={"fingerprint": key.get_fingerprint()})
    return locked
