"""Enrolling nodes, confirming their host keys, maintenance."""


from django.db import transaction
from django.utils.translation import gettext as _

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import User
from workers.models import Node
from workers.nodes import ssh
from workers.services import node_logins


def enrol_node(
    *, actor: User, name: str, host: str, username: str, private_key: str = "", port: int = 22,
    passphrase: str = "", **fields,
) -> Node:
    """First step: connect, and keep the offered host key for confirmation.

    Raises InvalidInput when the key cannot be used or the address does not answer.
    """
    require(actor, Can.OPERATE)
    node_logins.require_usable_key(private_key, passphrase)
    node = Node(name=name, host=host, port=port, username=username, private_key=private_key,
                passphrase=passphrase, **fields)
    node.full_clean(exclude=["host_key", "offered_host_key"])
    require_bastion_key(node)
    node.offered_host_key = offered_host_key(node)
    with transaction.atomic():
        node.save()
        audit_log.record(actor=actor, action="node.enrol", target=node,
                         data={"host": host, "port": port,
                               "fingerprint": ssh.fingerprint(node.offered_host_key)})
    return node


def require_bastion_key(node: Node) -> None:
    """The bastion's host key is pinned as a person gave it; it must be readable."""
    if not node.bastion_host:
        return
    try:
        ssh.fingerprint(node.bastion_host_key)
    except ValueError as error:
        raise InvalidInput(_("The bastion's host key cannot be read: %(why)s")
                           % {"why": error}) from error


def offered_host_key(node: Node) -> str:
    """The host key the address shows now. Raises InvalidInput when it does not answer."""
    try:
        return ssh.fetch_host_key(node)
    except (ssh.Unreachable, ssh.HostKeyChanged, ssh.LoginRefused) as error:
        raise InvalidInput(_("%(host)s:%(port)d does not answer over SSH (%(why)s).")
                           % {"host": node.host, "port": node.port, "why": error}) from error


@transaction.atomic
def confirm_host_key(*, actor: User, node: Node, fingerprint: str) -> Node:
    """Second step: pin the key whose fingerprint a person has compared.

    Raises InvalidInput when it is not the fingerprint that was offered.
    """
    require(actor, Can.OPERATE)
    node = Node.objects.select_for_update(of=("self",), no_key=True).get(pk=node.pk)
    if not node.offered_host_key:
        raise WrongState(_("This node has no host key to confirm."))
    if fingerprint.strip() != ssh.fingerprint(node.offered_host_key):
        raise InvalidInput(_("The fingerprint is not the one the node offered."))
    node.host_key, node.offered_host_key = node.offered_host_key, ""
    node.state = Node.State.READY
    node.save()
    audit_log.record(actor=actor, action="node.confirm", target=node,
                     data={"fingerprint": fingerprint})
    return node


def fetch_new_host_key(*, actor: User, node: Node) -> Node:
    """Ask a quarantined node for its key again; it must be confirmed before use."""
    require(actor, Can.OPERATE)
    offered = offered_host_key(node)
    with transaction.atomic():
        node.offered_host_key, node.state = offered, Node.State.PENDING
        node.save(update_fields=["offered_host_key", "state"])
        audit_log.record(actor=actor, action="node.refetch_key", target=node,
                         data={"fingerprint": ssh.fingerprint(offered)})
    return node


@transaction.atomic
def set_maintenance(*, actor: User, node: Node, is_on: bool) -> Node:
    """Drain a node (running jobs go on, none starts), or take it back."""
    require(actor, Can.OPERATE)
    node = Node.objects.select_for_update(of=("self",), no_key=True).get(pk=node.pk)
    expected = Node.State.READY if is_on else Node.State.MAINTENANCE
    if node.state != expected:
        raise WrongState(_("The node is “%(state)s”.") % {"state": node.get_state_display()})
    node.state = Node.State.MAINTENANCE if is_on else Node.State.READY
    node.save(update_fields=["state"])
    audit_log.record(actor=actor, action="node.maintenance", target=node, data={"on": is_on})
    return node
