"""Keys that the desk lets in itself: by a password used once, which is not stored, logged or
audited, or in place of the key before."""

import logging

import asyncssh
from django.db import transaction
from django.utils.translation import gettext as _

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.decisions import require_decider
from engagements.errors import InvalidInput, WrongState
from engagements.models import User
from workers.models import Node, NodeLogin
from workers.nodes import error_sentences, ssh

log = logging.getLogger(__name__)

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

REMOVE = """cd "$HOME/.ssh" || exit 1
grep -vF {blob} authorized_keys > authorized_keys.desk; [ $? -lt 2 ] || exit 1
cat authorized_keys.desk > authorized_keys && rm -f authorized_keys.desk && echo "desk key removed"
"""


def rotate_key(*, actor: User, node: Node) -> Node:
    """A new key, let in with the old one and tried, then kept; only then the old one's line goes.

    Where it does not open the node, everything stays as it was. Raises WrongState without a pinned
    host key or stored key and with a certificate, InvalidInput where the node does not answer or
    the new key does not open it.
    """
    require(actor, Can.OPERATE)
    require_decider(actor, "node.rotate_key")
    old = _stored_key(node) if node.host_key else None
    if old is None:
        raise WrongState(_("Only a stored key of a node with a pinned host key is rotated."))
    if node.certificate:
        raise WrongState(_("Its key has a certificate: enter a new key and its certificate under "
                           "“Edit”."))
    new = asyncssh.generate_private_key("ssh-ed25519", "delivery-desk")
    try:
        _require_said(ssh.run(node, SCRIPT.format(line=_quoted(_public(new)))),
                      b"desk key installed")
    except ssh.NodeError as error:
        raise InvalidInput(error_sentences.sentence(node, error)) from error
    try:
        kept = _keep(actor, node, new, new.export_private_key("openssh").decode(),
                     "node.rotate_key")
    except InvalidInput:
        _drop(node, new)
        raise
    if not _is_used_elsewhere(node, old):
        _drop(kept, old)
    return kept


def _drop(node: Node, key: asyncssh.SSHKey) -> None:
    """Take a key's line out of `authorized_keys`; a node that is away keeps it."""
    try:
        answer = ssh.run(node, REMOVE.format(blob=_quoted(_public(key).split()[1])))
        _require_said(answer, b"desk key removed")
    except (ssh.NodeError, InvalidInput) as error:
        log.warning("%s: a key that is not used any more stays in authorized_keys: %s", node, error)


def _is_used_elsewhere(node: Node, key: asyncssh.SSHKey) -> bool:
    """Whether an engagement's log-in uses the same user and key."""
    return any(login.private_key and login.username == node.username
               and _stored_key(login).get_fingerprint() == key.get_fingerprint()
               for login in node.logins.in_use())


def _public(key: asyncssh.SSHKey) -> str:
    return key.export_public_key("openssh").decode().strip()


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _require_said(answer: ssh.Answer, words: bytes) -> None:
    if words not in answer.stdout:
        raise InvalidInput(_("The key could not be written into authorized_keys (%(why)s).")
                           % {"why": answer.stderr[-200:].decode(errors="replace").strip()})


def install_key(*, actor: User, node: Node, password: str) -> Node:
    """Log in with the password once and add the node's public key to `authorized_keys`.

    A node without a stored key gets a new one, which is kept once it has opened the node. The host
    key must be pinned before: a password is told to no machine that nobody has looked at.
    Raises WrongState without a pinned key, InvalidInput where the password or the key is refused.
    """
    require(actor, Can.OPERATE)
    require_decider(actor, "node.install_key")
    if not node.host_key:
        raise WrongState(_("Confirm the host key of the node first."))
    key = _stored_key(node) or asyncssh.generate_private_key("ssh-ed25519", "delivery-desk")
    try:
        answer = ssh.run_with_password(node, password,
                                       SCRIPT.format(line=_quoted(_public(key))))
    except ssh.NodeError as error:
        raise InvalidInput(_("The password did not open the node (%(why)s).")
                           % {"why": error}) from error
    _require_said(answer, b"desk key installed")
    private = node.private_key or key.export_private_key("openssh").decode()
    return _keep(actor, node, key, private, "node.install_key")


def _stored_key(node: Node | NodeLogin) -> asyncssh.SSHKey | None:
    if not node.private_key:
        return None
    return asyncssh.import_private_key(node.private_key, node.passphrase or None)


def _keep(actor: User, node: Node, key: asyncssh.SSHKey, private: str, action: str) -> Node:
    """Keep the key if it opens the node by itself."""
    trial = Node.objects.get(pk=node.pk)
    trial.private_key, trial.certificate = private, ""
    if private != node.private_key:
        trial.passphrase = ""
    try:
        ssh.shell_seconds(trial)
    except ssh.NodeError as error:
        raise InvalidInput(_(
            "The key was written into authorized_keys, but does not open the node (%(why)s): look "
            "at PubkeyAuthentication and AuthorizedKeysFile of its sshd, and at the bastion.")
            % {"why": error}) from error
    with transaction.atomic():
        locked = Node.objects.select_for_update(of=("self",), no_key=True).get(pk=node.pk)
        locked.private_key, locked.passphrase = private, trial.passphrase
        locked.save(update_fields=["private_key", "passphrase"])
        audit_log.record(actor=actor, action=action, target=locked,
                         data={"fingerprint": key.get_fingerprint()})
    return locked
