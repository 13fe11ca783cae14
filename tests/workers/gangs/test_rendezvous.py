"""What a launcher is given on each of several nodes."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from workers import kinds
from workers.gangs import launchers, network, rendezvous
from workers.gangs.rendezvous import Rendezvous, Seat

SEATS = (Seat("10.0.0.1", "eth0", (0, 1), ((0, "192.168.1.8"), (1, "192.168.1.9"))),
         Seat("10.0.0.2", "eth0", (4, 5), ((4, "192.168.2.8"), (5, "192.168.2.9"))))
SECOND = Rendezvous(SEATS, 21_000, rank=1)


def test_rank_table_counts_ranks_over_all_nodes():
    table = json.loads(rendezvous.files(SECOND)["hccl_rank_table.json"])
    assert (table["version"], table["server_count"], table["status"]) == ("1.0", "2", "completed")
    assert table["server_list"][1] == {
        "server_id": "10.0.0.2", "host_nic_ip": "reserve", "device": [
            {"device_id": "4", "device_ip": "192.168.2.8", "rank_id": "2"},
            {"device_id": "5", "device_ip": "192.168.2.9", "rank_id": "3"}]}


def test_no_rank_table_where_a_card_has_not_told_its_address():
    silent = Rendezvous((SEATS[0], Seat("10.0.0.2", "eth0", (4,))), 21_000)
    assert set(rendezvous.files(silent)) == {"hostfile", "mpi_hostfile"}
    assert "DESK_RANK_TABLE" not in rendezvous.paths(silent)


def test_variables_and_hostfile():
    assert rendezvous.files(SECOND)["hostfile"] == "10.0.0.1 slots=2\n10.0.0.2 slots=2\n"
    found = rendezvous.environment(SECOND) | rendezvous.paths(SECOND)
    assert {name: found[name] for name in (
        "MASTER_ADDR", "MASTER_PORT", "NODE_RANK", "HCCL_IF_IP", "HCCL_SOCKET_IFNAME",
        "GLOO_SOCKET_IFNAME", "DESK_RANK_TABLE")} == {
        "MASTER_ADDR": "10.0.0.1", "MASTER_PORT": "21000", "NODE_RANK": "1",
        "HCCL_IF_IP": "10.0.0.2", "HCCL_SOCKET_IFNAME": "=eth0", "GLOO_SOCKET_IFNAME": "eth0",
        "DESK_RANK_TABLE": "hccl_rank_table.json"}
    assert rendezvous.restored(SECOND.as_json(), 1) == SECOND


@pytest.mark.parametrize(("launcher", "words"), [
    ("torchrun", "--nproc_per_node 2 --nnodes 2 --node_rank 1 --master_addr 10.0.0.1 "
                 "--master_port 21000"),
    ("deepspeed", "--hostfile hostfile --no_ssh --node_rank 1 --master_addr 10.0.0.1 "
                  "--master_port 21000"),
    ("accelerate", "--machine_rank 1 --main_process_ip 10.0.0.1 --main_process_port 21000"),
    ("msrun", "--worker_num=4 --local_worker_num=2"),
    ("msrun", "--master_addr=10.0.0.1 --master_port=21000 --node_rank=1"),
])
def test_launchers_on_the_second_of_two_nodes(launcher, words):
    assert words in " ".join(launchers.words(launcher, "python3", 2, SECOND))


def test_megatron_restarts_from_its_checkpoints():
    kind = kinds.get("adapt.megatron_train")
    values = kind.clean({"nodes": 2, "save": "/share/ckpt"})
    again = kind.argv_on(values, Rendezvous(SEATS, 21_000, rank=1, attempt=2))
    assert again[again.index("--load"):][:2] == ["--load", "/share/ckpt"]
    assert "--load" not in kind.argv_on(values, SECOND)
    assert again[again.index("--node_rank"):][:2] == ["--node_rank", "1"]


def test_what_a_node_tells_of_its_network():
    shown = network.parse_facts(
        b"Welcome\ndesk net address 10.0.0.2\ndesk net own yes\n"
        b"desk net interface eth0\ndesk net port 21020\ndesk net device 4 192.168.2.8\n"
        b"desk net device 5 none\n")
    assert shown == network.NodeNetwork("10.0.0.2", "eth0", True, 21_020,
                                        ((4, "192.168.2.8"),))
    assert network.parse_facts(b"Welcome\n") is None
    assert network.parse_reached(b"desk net unreached 1 Connection refused\ndesk net tried\n") == {
        1: "Connection refused"}


@pytest.mark.parametrize(("key", "status"), [("known", 0), ("another", 1)])
def test_a_node_runs_what_those_ask_for_who_know_the_key(tmp_path, key, status):
    """mpirun's agent on another node: the words of a stranger are not run."""
    program = Path(launchers.__file__).with_name("mpi_launch.py")
    env = {**os.environ, "MASTER_ADDR": "127.0.0.1", "HCCL_IF_IP": "10.0.0.2"}
    with socket.create_server(("127.0.0.1", 0)) as server:
        env["MASTER_PORT"] = str(server.getsockname()[1])
        follower = subprocess.Popen([sys.executable, program, "follow"], cwd=tmp_path,
                                    env={**env, "DESK_GANG_KEY": "known"})
        lead = (f"import runpy, socket; m = runpy.run_path({str(program)!r}); "
                f"line = m['Line'](socket.socket(fileno={{}}), 'lead'); line.read(); "
                "line.transmit(run='touch ran'); line.transmit(end=0)")
        peer, _who = server.accept()
        subprocess.run([sys.executable, "-c", lead.format(peer.fileno())], check=True,
                       pass_fds=[peer.fileno()], env={**env, "DESK_GANG_KEY": key})
        peer.close()
    assert follower.wait(30) == status
    assert (tmp_path / "ran").exists() == (key == "known")
