"""Enrols the practice node as an operator would: fingerprint shown, then confirmed."""

from pathlib import Path

from delivery.demo.sample_firm import NODE_NAME
from engagements.models import Role, User
from workers import services
from workers.models import Node
from workers.nodes import ssh

CLIENT_KEY = Path("keys") / "client_key"


def enrol_practice_node(root: Path, host: str, port: int) -> Node:
    """Enrol and confirm the practice node whose keys lie below `root`."""
    operator = User.objects.get(username="operator")
    node = services.enrol_node(
        actor=operator, name=NODE_NAME, host=host, port=port, username="practice",
        private_key=(root / CLIENT_KEY).read_text(), is_practice=True,
        command_roles=[Role.CONSULTANT, Role.OPERATOR])
    return services.confirm_host_key(
        actor=operator, node=node, fingerprint=ssh.fingerprint(node.offered_host_key))
