"""The network of a job's nodes, looked at over SSH before it starts."""

from collections.abc import Callable

from django.utils.translation import gettext_noop

from workers.gangs import network
from workers.gangs.network import NodeNetwork
from workers.gangs.rendezvous import Rendezvous
from workers.models import Gang, Job
from workers.models.job import OPEN_STATES
from workers.nodes import reachability, ssh

FIRST_PORT, SPAN, STEP = 20_000, 9_000, 20  # below Linux's ephemeral range


class NoMeeting(Exception):
    """The nodes cannot work together; `message` and `values` say why, for people."""

    def __init__(self, message: str, cause: str = "", **values) -> None:
        super().__init__(message)
        self.message, self.cause, self.values = message, cause, values


class NodeAway(Exception):
    """A node could not be asked."""

    def __init__(self, member: Job, error: Exception) -> None:
        super().__init__(str(error))
        self.member, self.error = member, error


def meeting_of(gang: Gang, members: list[Job], cards: dict[int, list[int]]) -> Rendezvous:
    """Where the nodes meet: their addresses, and a free port of the first.

    Raises NoMeeting, NodeAway.
    """
    found = _facts(gang, members, cards)
    seats = tuple(found[member.pk].seat(cards.get(member.pk, []), member.node.cluster_interface)
                  for member in members)
    for member, seat in zip(members, seats, strict=True):
        if found[member.pk].is_own is False:
            raise NoMeeting(gettext_noop(
                "%(node)s has no network interface with the address %(address)s, under which the "
                "other nodes are to reach it; set “address for other nodes” of the node."),
                node=member.node.name, address=seat.address)
        if len(members) > 1 and seat.address.startswith("127.") and any(
                other.node.host != member.node.host for other in members):
            raise NoMeeting(gettext_noop(
                "%(node)s is known as %(address)s, which no other node reaches; set “address for "
                "other nodes” of the node."), node=member.node.name, address=seat.address)
    ports = {member.pk: found[member.pk].port for member in members}
    if (port := ports[members[0].pk]) is None:
        raise NoMeeting(gettext_noop("%(node)s has no free port."), node=members[0].node.name)
    meeting = Rendezvous(seats, port, attempt=gang.round)
    _require_reached(gang, members, meeting, ports)
    return meeting


def _facts(gang: Gang, members: list[Job], cards: dict[int, list[int]]) -> dict[int, NodeNetwork]:
    taken = {other.rendezvous.get("port") for other in Gang.objects.filter(
        job__state__in=OPEN_STATES).exclude(pk=gang.pk)} - {None}
    first = FIRST_PORT + gang.job_id * 37 % SPAN
    answers = _asked(members, lambda member: network.facts_script(
        member.node.cluster_address or member.node.host, cards.get(member.pk, []), taken,
        first + STEP * member.rank))
    found = {}
    for member in members:
        facts = network.parse_facts(answers[member.pk].stdout)
        if facts is None:
            raise NodeAway(member, ssh.AnswerIncomplete(answers[member.pk]))
        found[member.pk] = facts
    return found


def _require_reached(gang: Gang, members: list[Job], meeting: Rendezvous,
                     ports: dict[int, int | None]) -> None:
    """Each node reaches each other one. What a node without Python cannot try is not tried."""
    marks = {member.pk: f"desk-net-{member.directory_name}" for member in members}
    listening = [member for member in members if ports[member.pk] is not None]
    try:
        answers = _asked(listening, lambda member: network.listen_script(
            meeting.seats[member.rank].address, ports[member.pk] or 0, marks[member.pk]))
        ready = [member for member in listening if _listens(member, meeting, answers[member.pk])]
        tried = _asked(members, lambda member: network.connect_script(
            [(other.rank, meeting.seats[other.rank].address, ports[other.pk] or 0,
              marks[other.pk]) for other in ready if other != member]))
    finally:
        _asked(members, lambda member: network.close_script(marks[member.pk]), is_strict=False)
    names = {member.rank: member.node.name for member in members}
    for member in members:
        for rank, why in (network.parse_reached(tried[member.pk].stdout) or {}).items():
            raise NoMeeting(gettext_noop(
                "%(node)s does not reach %(other)s at %(address)s, port %(port)s: %(why)s. Look "
                "at address, route and firewall between them."), node=member.node.name,
                other=names[rank], address=meeting.seats[rank].address,
                port=ports[members[rank].pk], why=why,
                cause="\n".join(_cause_line(other, tried[other.pk]) for other in members))


def _listens(member: Job, meeting: Rendezvous, answer: ssh.Answer) -> bool:
    """Raises NoMeeting where the node's own address or port cannot be opened."""
    why = network.listens(answer.stdout)
    if why:
        raise NoMeeting(gettext_noop(
            "%(node)s cannot listen at its address %(address)s: %(why)s."),
            node=member.node.name, address=meeting.seats[member.rank].address, why=why)
    return why == ""


def _cause_line(member: Job, answer: ssh.Answer) -> str:
    return f"{member.node.name}: {answer.stdout.decode(errors='replace').strip()}"


def _asked(members: list[Job], script: Callable[[Job], str], is_strict: bool = True
           ) -> dict[int, ssh.Answer]:
    """The answers by member. Raises NodeAway, and notes that the node is."""
    by_access = {member.access: member for member in members}
    found = {}
    for access, answer in ssh.run_many([(access, script(member))
                                        for access, member in by_access.items()]):
        member = by_access[access]
        if isinstance(answer, ssh.Answer):
            found[member.pk] = answer
        elif is_strict:
            reachability.missed(access, str(answer), reachability.trouble_of(answer))
            raise NodeAway(member, answer)
    return found
