"""What a runtime could be made of on a node: engines, images, running containers, environments,
set-up scripts. Asked when the log-in is tried, and offered in the form."""

import shlex
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from workers.models import Node, NodeLogin
from workers.nodes import ssh

_HERE = Path(__file__).parent
NAMES = {"engine": "engines", "image": "images", "container": "containers", "script": "scripts",
         "conda": "conda", "venv": "venv"}
LONGEST = 400
# The options of a runtime, and what of the offers can fill them.
FILLS = {"image": ("images",), "container": ("containers",), "environment": ("conda", "venv"),
         "scripts": ("scripts",)}


def read_offers(access: Node | NodeLogin, node: Node) -> None:
    """Ask the node and keep what it shows; nothing where it does not answer as a whole.

    Raises what `workers.nodes.ssh.run` raises.
    """
    found = parse(ssh.run(access, script(node), 150).stdout)
    if found is not None:
        node.offers = found
        Node.objects.filter(pk=node.pk).update(offers=found)


def script(node: Node) -> str:
    """Script that looks for everything; POSIX sh."""
    words = " ".join(map(shlex.quote, shlex.split(node.container_engine)))
    return f"engine_words={shlex.quote(words)}\n{_text()}"


def parse(output: bytes) -> dict[str, list[str]] | None:
    """Lists by name of NAMES; None where the answer is not complete."""
    lines = output.decode(errors="replace").splitlines()
    if "desk offers end" not in lines:
        return None
    found: dict[str, list[str]] = {name: [] for name in NAMES.values()}
    for line in lines:
        kind, _space, value = line.removeprefix("desk offer ").partition(" ")
        if line.startswith("desk offer ") and kind in NAMES and value[:LONGEST].isprintable():
            found[NAMES[kind]].append(value[:LONGEST])
    return found


def pairs(node: Node, name: str) -> list[tuple[str, str]]:
    """Images as (name, by digest), running containers as (name, image)."""
    return [(words[0], words[-1]) for value in node.offers.get(name, ())
            if (words := value.split())]


def for_option(nodes: Iterable[Node], option: str) -> list[str]:
    """What the nodes offer for an option of a runtime, each once.

    Of images the digest is offered, of running containers the name.
    """
    offered = [value for node in nodes for name in FILLS.get(option, ())
               for value in node.offers.get(name, [])]
    word = {"image": -1, "container": 0}.get(option)
    return sorted({value if word is None else value.split()[word] for value in offered
                   if value.split()})


@cache
def _text() -> str:
    return (_HERE / "offers.sh").read_text(encoding="utf-8")
