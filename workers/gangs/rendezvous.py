"""Where the processes of a job on several nodes meet: addresses, cards, port, and their files."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

RANK_TABLE, HOSTFILE, MPI_HOSTFILE = "hccl_rank_table.json", "hostfile", "mpi_hostfile"


@dataclass(frozen=True)
class Seat:
    """One node of the job.

    Args:
        address: under which the other nodes reach it; `interface` is the network interface of it.
        cards: leased ones. device_ips: of their network ports by card, as far as the node told.
    """

    address: str
    interface: str = ""
    cards: tuple[int, ...] = ()
    device_ips: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True)
class Rendezvous:
    """All nodes by rank, the free port of the first one, and whose view this is.

    Args:
        attempt: from 1 on; a higher one is a restart after a failure.
    """

    seats: tuple[Seat, ...]
    port: int
    rank: int = 0
    attempt: int = 1

    @property
    def nodes(self) -> int:
        return len(self.seats)

    @property
    def master(self) -> str:
        return self.seats[0].address

    @property
    def seat(self) -> Seat:
        return self.seats[self.rank]

    @property
    def slots(self) -> int:
        """Processes of one node: one per card; one where no card was asked for."""
        return len(self.seat.cards) or 1

    def as_json(self) -> dict[str, Any]:
        """As JSON, the same for all ranks."""
        return {"port": self.port, "seats": [asdict(seat) for seat in self.seats]}


def restored(stored: dict[str, Any], rank: int, attempt: int = 1) -> Rendezvous:
    """The rendezvous of one rank from what `Rendezvous.kept` gave."""
    seats = tuple(Seat(seat["address"], seat["interface"], tuple(seat["cards"]),
                       tuple((card, ip) for card, ip in seat["device_ips"]))
                  for seat in stored["seats"])
    return Rendezvous(seats, stored["port"], rank, attempt)


def environment(meeting: Rendezvous) -> dict[str, str]:
    """Variables of one node's processes.

    MASTER_ADDR and MASTER_PORT are what torch.distributed's `env://` reads, the others those of
    HCCL (HCCL_IF_IP comes before HCCL_SOCKET_IFNAME; `=` asks for exactly that interface), of gloo
    and of TensorPipe; NNODES, NODE_RANK and NPROC_PER_NODE for scripts that start their processes
    themselves.
    """
    seat = meeting.seat
    chosen = {
        "MASTER_ADDR": meeting.master, "MASTER_PORT": str(meeting.port),
        "NNODES": str(meeting.nodes), "NODE_RANK": str(meeting.rank),
        "NPROC_PER_NODE": str(meeting.slots), "HCCL_IF_IP": seat.address,
        "DESK_RESTART": str(meeting.attempt - 1),
    }
    if seat.interface:
        chosen |= {"HCCL_SOCKET_IFNAME": f"={seat.interface}",
                   "GLOO_SOCKET_IFNAME": seat.interface, "TP_SOCKET_IFNAME": seat.interface}
    return chosen


def paths(meeting: Rendezvous) -> dict[str, str]:
    """Variables that name those of `files` that there are."""
    found = {"DESK_HOSTFILE": HOSTFILE, "DESK_MPI_HOSTFILE": MPI_HOSTFILE}
    return found | ({"DESK_RANK_TABLE": RANK_TABLE} if has_rank_table(meeting) else {})


def has_rank_table(meeting: Rendezvous) -> bool:
    """Whether every leased card of every node has reported its network address."""
    return all(seat.cards and set(seat.cards) <= dict(seat.device_ips).keys()
               for seat in meeting.seats)


def files(meeting: Rendezvous) -> dict[str, str]:
    """What is laid into each node's work folder, by name.

    DeepSpeed's hostfile says `slots=`, Open MPI's too; both name the nodes in the order of ranks.
    """
    lines = "".join(f"{seat.address} slots={len(seat.cards) or 1}\n" for seat in meeting.seats)
    found = {HOSTFILE: lines, MPI_HOSTFILE: lines}
    if has_rank_table(meeting):
        found[RANK_TABLE] = rank_table(meeting.seats)
    return found


def rank_table(seats: Sequence[Seat]) -> str:
    """HCCL's rank table, version 1.0 (HCCL user guide: configuration of cluster information)."""
    servers, rank = [], 0
    for seat in seats:
        devices = []
        for card in seat.cards:
            devices.append({"device_id": str(card), "device_ip": dict(seat.device_ips)[card],
                            "rank_id": str(rank)})
            rank += 1
        servers.append({"server_id": seat.address, "device": devices,
                        "host_nic_ip": "reserve"})
    return json.dumps({"status": "completed", "version": "1.0",
                       "server_count": str(len(servers)), "server_list": servers}, indent=1)
