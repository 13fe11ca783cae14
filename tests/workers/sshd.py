"""OpenSSH's own server on a free loopback port, for what only the real one shows."""

import contextlib
import errno
import getpass
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.ports import free_port

SSHD = shutil.which("sshd") or "/usr/sbin/sshd"
USER = getpass.getuser()
WITHOUT_RIGHTS = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
CONFIG = """
ListenAddress {address}:{port}
HostKey {root}/host_key
AuthorizedKeysFile {root}/authorized
PidFile none
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
SetEnv HOME={root}/home{environment}
"""


class Sshd:
    """One server; its home folder and its keys lie below `root`.

    Root of an `is_ordinary` one may read what its owner lets it, as any other user.
    """

    def __init__(self, root: Path, address: str = "127.0.0.1", is_ordinary: bool = False,
                 **environment) -> None:
        self.prefix = [*WITHOUT_RIGHTS] if is_ordinary and USER == "root" else []
        self.root, self.home, self.address = root, root / "home", address
        self.environment = "".join(f" {name}={value}" for name, value in environment.items())
        self.home.mkdir(parents=True)
        self.port, self.process = free_port(), None
        self.key, self.more = make_key(root / "client_key"), ""
        make_key(root / "host_key")
        self.let_in("client_key")

    def let_in(self, name: str) -> None:
        """Authorise one of the keys below `root`; adds to those known."""
        with (self.root / "authorized").open("a") as known:
            known.write((self.root / f"{name}.pub").read_text())

    def start(self) -> "Sshd":
        Path("/run/sshd").mkdir(exist_ok=True)
        config = self.root / "sshd_config"
        config.write_text(CONFIG.format(address=self.address, port=self.port, root=self.root,
                                        environment=self.environment) + self.more)
        self.process = subprocess.Popen([*self.prefix, SSHD, "-D", "-e", "-f", config],
                                        stderr=(self.root / "log").open("ab"))
        self._wait_until(lambda probe: probe.connect_ex((self.address, self.port)) == 0)
        return self

    def _wait_until(self, condition: Callable[[socket.socket], bool]) -> None:
        deadline = time.monotonic() + 60  # for a busy machine
        while time.monotonic() < deadline:
            with socket.socket() as probe:
                if condition(probe):
                    return
            time.sleep(0.01)
        raise TimeoutError((self.root / "log").read_text())

    def _is_free(self, probe: socket.socket) -> bool:
        """Whether nothing listens there, be the address itself gone with its network."""
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((self.address, self.port))
        except OSError as error:
            return error.errno == errno.EADDRNOTAVAIL
        return True

    def stop(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()
            # A session that sshd has just forked listens until it has closed the socket.
            self._wait_until(self._is_free)

    def reinstall(self) -> None:
        """The same address with another host key."""
        self.stop()
        (self.root / "host_key").unlink()
        make_key(self.root / "host_key")
        self.start()

    @property
    def host_key(self) -> str:
        return (self.root / "host_key.pub").read_text().strip()


def can_run() -> bool:
    """Whether this machine has sshd and lets this user start it."""
    return Path(SSHD).exists() and (Path("/run/sshd").exists() or USER == "root")


def make_key(path: Path, passphrase: str = "") -> str:
    """A new key pair at `path`; returns the private key's text."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", path], check=True)
    return path.read_text()


@contextlib.contextmanager
def running_sshd(root: Path, address: str = "127.0.0.1", is_ordinary: bool = False,
                 **environment) -> Iterator[Sshd]:
    """A server on a loopback address whose sessions have these variables besides HOME."""
    server = Sshd(root, address, is_ordinary, **environment).start()
    try:
        yield server
    finally:
        server.stop()


@contextlib.contextmanager
def running_agent(folder: Path, key: Path) -> Iterator[Path]:
    """An ssh-agent that holds one key; yields its socket."""
    folder.mkdir(exist_ok=True)
    path = folder / "agent"
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", path], stdout=subprocess.DEVNULL)
    try:
        while not path.exists():
            time.sleep(0.01)
        subprocess.run(["ssh-add", "-q", key], check=True, env={"SSH_AUTH_SOCK": str(path)})
        yield path
    finally:
        agent.kill()
        agent.wait()
