"""Two hosts with a worker and a scheduler each, in network namespaces of their own.

They share PostgreSQL, Redis and the artifact store, which stand elsewhere; nodes stand at a third
place. So a host can be cut off from all, or from the database and the broker alone while it still
reaches the nodes, or die. Cut off means that packets vanish: nobody is told. Needs root and
iproute2.
"""

import contextlib
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.faults.desk import ServerDesk

HOSTS = ("a", "b")
NETWORKS = range(200, 255)  # 10.N.0.0/16: one for each desk of a machine


def ip(*words: object) -> None:
    subprocess.run(["ip", *map(str, words)], check=True, stderr=subprocess.DEVNULL)


class Host:
    """A network namespace with one line to the rest.

    Raises CalledProcessError where there is one of that network and name.
    """

    def __init__(self, network: int, name: str, services: str) -> None:
        self.name, self.services, self.is_down = name, services, False
        self.space, self.link = f"desk-{network}-{name}", f"desk-{network}-{name}"
        number = HOSTS.index(name) + 1
        here, there = f"10.{network}.{number}.1", f"10.{network}.{number}.2"
        ip("netns", "add", self.space)
        ip("link", "add", self.link, "type", "veth", "peer", "name", "eth0", "netns", self.space)
        ip("address", "add", f"{here}/24", "dev", self.link)
        ip("link", "set", self.link, "up")
        for words in (("address", "add", f"{there}/24", "dev", "eth0"),
                      ("link", "set", "lo", "up"), ("link", "set", "eth0", "up"),
                      ("route", "add", "default", "via", here)):
            ip("-n", self.space, *words)

    def cut_off(self, is_cut: bool) -> None:
        """From everything."""
        ip("link", "set", self.link, "down" if is_cut else "up")

    def cut_off_from_services(self, is_cut: bool) -> None:
        """From database and broker; the nodes are still reached."""
        route = ("blackhole", f"{self.services}/32")
        if is_cut:
            ip("-n", self.space, "route", "replace", *route)
        else:  # two cuts may overlap, and the first end ends both
            subprocess.run(["ip", "-n", self.space, "route", "del", *route], check=False,
                           stderr=subprocess.DEVNULL)

    def inside(self, command: list[str]) -> list[str]:
        return ["ip", "netns", "exec", self.space, *command]

    def remove(self) -> None:
        for words in (("link", "del", self.link), ("netns", "del", self.space)):
            subprocess.run(["ip", *words], check=False, stderr=subprocess.DEVNULL)


class TwoHostDesk(ServerDesk):
    """Workers and schedulers on two hosts; the portal beside the database."""

    name = "two worker hosts, PostgreSQL + Redis"

    def __init__(self, folder: Path) -> None:
        self.network, first = _free_network(HOSTS[0])
        self.services_address, self.nodes_address = _addresses(self.network)
        for address in _addresses(self.network):
            ip("address", "replace", f"{address}/32", "dev", "lo")
        others = [Host(self.network, name, self.services_address) for name in HOSTS[1:]]
        self.hosts = {host.name: host for host in (first, *others)}
        super().__init__(folder)

    def processes(self, port: int) -> dict[str, list[str]]:
        single = super().processes(port)
        found = {"web": single["web"]}
        for name, host in self.hosts.items():
            schedule = ["--schedule", str(self.folder / f"beat-{name}")]
            found[f"worker-{name}"] = host.inside(single["worker"])
            found[f"beat-{name}"] = host.inside([*single["beat"], *schedule])
        return found

    def is_wanted(self, process: str) -> bool:
        host = self.hosts.get(process.rpartition("-")[2])
        return host is None or not host.is_down

    def kill(self, name: str) -> None:
        """Of a role that stands on both hosts, the process of one."""
        on_hosts = [process for process in self.commands if process.startswith(f"{name}-")]
        super().kill(self.chance.choice(on_hosts) if on_hosts else name)

    def lasting_faults(self) -> list[tuple[int, str, Callable[[], Callable[[bool], None]]]]:
        return [(3, "host cut off", lambda: self._any().cut_off),
                (4, "host cut off from database and broker",
                 lambda: self._any().cut_off_from_services),
                (2, "host died", lambda: self._switch(self._any()))]

    def _any(self) -> Host:
        return self.chance.choice([*self.hosts.values()])

    def _switch(self, host: Host) -> Callable[[bool], None]:
        def switched(is_down: bool) -> None:
            host.is_down = is_down
            for role in ("worker", "beat") if is_down else ():
                super(TwoHostDesk, self).kill(f"{role}-{host.name}")

        return switched

    def stop(self) -> None:
        super().stop()
        for host in self.hosts.values():
            host.remove()
        for address in _addresses(self.network):
            ip("address", "del", f"{address}/32", "dev", "lo")


def _free_network(name: str) -> tuple[int, Host]:
    """The first network that no other desk has, with its host of that name."""
    for network in NETWORKS:
        with contextlib.suppress(subprocess.CalledProcessError):
            return network, Host(network, name, _addresses(network)[0])
    raise RuntimeError("no network is free")


def _addresses(network: int) -> tuple[str, str]:
    """Where database and broker stand, and where the nodes do."""
    return f"10.{network}.0.1", f"10.{network}.0.2"


def missing() -> str:
    """Why two hosts cannot be made here; empty if they can."""
    can = all(map(shutil.which, ("ip", "unshare"))) and not subprocess.run(
        ["unshare", "--net", "true"], check=False, capture_output=True).returncode
    return "" if can else "needs root, network namespaces and iproute2"
