"""Enrols the practice node as an operator would: fingerprint shown, then confirmed."""

from pathlib import Path

import asyncssh
from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from delivery.demo.sample_firm import NODE_NAME
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import WrongState
from engagements.models import Role, User
from workers import services
from workers.models import Node
from workers.nodes import ssh
from workers.services import node_edits

CLIENT_KEY, HOST_KEY = Path("keys") / "client_key", Path("keys") / "host_key"


def enrol_practice_node(root: Path, host: str, port: int) -> Node:
    """Enrol and confirm the practice node whose keys lie below `root`."""
    operator = _operator()
    node = services.enrol_node(
        actor=operator, name=NODE_NAME, host=host, port=port, username="practice",
        private_key=(root / CLIENT_KEY).read_text(), is_practice=True,
        command_roles=[Role.CONSULTANT, Role.OPERATOR])
    return services.confirm_host_key(
        actor=operator, node=node, fingerprint=ssh.fingerprint(node.offered_host_key))


def _wish() -> Path:
    return Path(settings.VAR_DIR) / "practice-node-wanted"


@transaction.atomic
def ask_for_practice_node(*, actor: User) -> None:
    """Let `./desk run` start and enrol a practice node. Raises WrongState where it does not run
    this desk, or there is one."""
    require(actor, Can.OPERATE)
    if not can_be_asked_for():
        raise WrongState(_("There is a practice node already, or this desk was not started by "
                           "“./desk run”."))
    _wish().touch()
    audit_log.record(actor=actor, action="practice.ask_for_node", target=actor)


def can_be_asked_for() -> bool:
    """Whether `./desk run` runs here and could start one."""
    return ((Path(settings.VAR_DIR) / "up.pid").exists()
            and not Node.objects.filter(name=NODE_NAME).exists())


def practice_node_is_wanted() -> bool:
    return _wish().exists()


def withdraw_wish() -> None:
    """It is there, or could not be made."""
    _wish().unlink(missing_ok=True)


def _operator() -> User:
    """The sample's, or beside real work whoever may enrol nodes."""
    able = User.objects.filter(is_active=True)
    return able.filter(username="operator", role=Role.OPERATOR).first() or able.filter(
        role__in=(Role.ADMINISTRATOR, Role.OPERATOR)).earliest("pk")


def follow_port(root: Path, port: int) -> None:
    """Let the node's row name the port where the practice node of `root` listens now.

    A row that names another host, or whose host key is not the one of `root`, is left alone.
    """
    operator, node = _operator(), Node.objects.get(name=NODE_NAME)
    own = asyncssh.read_private_key(root / HOST_KEY).get_fingerprint()
    if (node.host, node.port) == ("127.0.0.1", port) or node.host != "127.0.0.1" \
            or not node.host_key or ssh.fingerprint(node.host_key) != own:
        return
    node = node_edits.edit_node(actor=operator, node=node, port=port)
    services.confirm_host_key(actor=operator, node=node, fingerprint=own)
