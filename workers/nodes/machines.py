"""Which machine a node is: its machine id, and the id of its present boot.

Two rows with one machine would lease each of its cards twice.
"""

from dataclasses import dataclass

from workers.models import Node, NodeLogin
from workers.nodes import ssh

SCRIPT = """machine= boot=
read -r machine < /etc/machine-id 2>/dev/null
read -r boot < /proc/sys/kernel/random/boot_id 2>/dev/null
echo "desk machine id=$machine boot=$boot"
"""


@dataclass(frozen=True)
class Identity:
    """Empty where the machine did not say it."""

    machine_id: str = ""
    boot_id: str = ""


def identity_of(access: Node | NodeLogin) -> Identity:
    """Ask the machine. Raises NodeError."""
    answer = ssh.run(access, SCRIPT).stdout.decode(errors="replace")
    facts = dict(word.split("=", 1) for line in answer.splitlines()
                 if line.startswith("desk machine ") for word in line.split()[2:] if "=" in word)
    return Identity(facts.get("id", "")[:64], facts.get("boot", "")[:36])


def twin_of(node: Node, identity: Identity) -> Node | None:
    """Another node that is the same machine now.

    A machine id alone is no proof: disks are copied with it. Nodes with the same one are asked for
    their boot, or taken as last seen. Practice nodes stand for machines of their own.
    """
    if not (identity.machine_id and identity.boot_id) or node.is_practice:
        return None
    others = Node.objects.filter(machine_id=identity.machine_id, is_practice=False)
    return next((other for other in others.exclude(pk=node.pk)
                 if _present_boot(other) == identity.boot_id), None)


def _present_boot(node: Node) -> str:
    try:
        return identity_of(node).boot_id
    except ssh.NodeError:
        return node.boot_id


def with_host_key(node: Node, offered: str) -> Node | None:
    """Another node that shows the same host key or is about to be confirmed with it."""
    body = offered.split()[:2]
    return next((other for other in Node.objects.exclude(pk=node.pk).exclude(
                     state=Node.State.RETIRED)
                 if body in (other.host_key.split()[:2], other.offered_host_key.split()[:2])),
                None)
