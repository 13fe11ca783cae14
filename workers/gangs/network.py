"""What the nodes of a job say about their network before it starts, and whether they meet.

First each node tells what is its own (address, interface, network ports of the cards, a free
port); then all listen for a minute at most, each connects to all others, and all stop listening.
"""

import ipaddress
import shlex
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from toolreaders.number_parsing import whole_number
from workers.gangs.rendezvous import Seat

_HERE = Path(__file__).parent
LISTENS_SECONDS = 60


@dataclass(frozen=True)
class NodeNetwork:
    """What a node reported.

    `is_own` is None where the node cannot list its addresses; `port` None where none is free.
    """

    address: str
    interface: str
    is_own: bool | None
    port: int | None
    device_ips: tuple[tuple[int, str], ...] = ()

    def seat(self, cards: list[int], interface: str = "") -> Seat:
        """The node's place in a rendezvous; a stated interface comes before the one found."""
        wanted = tuple((card, ip) for card, ip in self.device_ips if card in cards)
        return Seat(self.address, interface or self.interface, tuple(cards), wanted)


def facts_script(address: str, cards: list[int], taken_ports: set[int], first_port: int) -> str:
    """Script that tells the node's address, interface, free port and the cards' addresses."""
    return (f"address={shlex.quote(address)}\ncards={shlex.quote(' '.join(map(str, cards)))}\n"
            f"taken={shlex.quote(' '.join(map(str, sorted(taken_ports))))}\n"
            f"port={int(first_port)}\n{_read('facts.sh')}")


def parse_facts(output: bytes) -> NodeNetwork | None:
    """None where the node did not answer with what the script prints."""
    words = _words(output)
    if not (found := words.get("address")):
        return None
    own = {"yes": True, "no": False}.get(words.get("own", [""])[0])
    ips = tuple((card, each[1]) for each in _all(output, "device")
                if len(each) == 2 and (card := whole_number(each[0])) is not None
                and _is_address(each[1]))
    return NodeNetwork(found[0], words.get("interface", [""])[0], own,
                       whole_number(words.get("port", [""])[0]), ips)


def listen_script(address: str, port: int, mark: str) -> str:
    """Script that leaves a listener behind, which ends by itself."""
    return _python("listen", "listener.py", address, str(port), mark, str(LISTENS_SECONDS))


def connect_script(peers: list[tuple[int, str, int, str]]) -> str:
    """Script that says which of the others it cannot reach, and why.

    Args:
        peers: rank, address, port and mark of each.
    """
    return _python("connect", "connector.py", *(" ".join(map(str, peer)) for peer in peers))


def close_script(mark: str) -> str:
    """Script that ends the listener before its time."""
    return _python("close", "closer.py", mark)


def parse_reached(output: bytes) -> dict[int, str] | None:
    """Why by rank, of those that were not reached; None where it could not be tried."""
    if "tried" not in _words(output):
        return None
    return {rank: " ".join(each[1:]) for each in _all(output, "unreached")
            if each and (rank := whole_number(each[0])) is not None}


def listens(output: bytes) -> str | None:
    """Empty if the node listens; why it cannot; None where it could not be tried."""
    words = _words(output)
    if "listens" in words:
        return ""
    return " ".join(words["refused"]) if "refused" in words else None


def _python(step: str, script: str, *arguments: str) -> str:
    """A check that needs Python; a node without one says nothing."""
    text = shlex.quote(_read(script))
    return ("command -v python3 >/dev/null 2>&1 || exit 0\n"
            f"DESK_CHECK={step} python3 -c {text} "
            + " ".join(shlex.quote(argument) for argument in arguments) + "\n")


def _lines(output: bytes) -> list[list[str]]:
    return [line.split()[2:] for line in output.decode(errors="replace").splitlines()
            if line.startswith("desk net ")]


def _words(output: bytes) -> dict[str, list[str]]:
    return {line[0]: line[1:] or [""] for line in _lines(output) if line}


def _all(output: bytes, word: str) -> list[list[str]]:
    return [line[1:] for line in _lines(output) if line[:1] == [word]]


def _is_address(text: str) -> bool:
    try:
        return bool(ipaddress.ip_address(text))
    except ValueError:
        return False


@cache
def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")
