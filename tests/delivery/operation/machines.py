"""Debian machines for the drill: systemd as PID 1 in containers of systemd-nspawn, on a network of
their own. Packages come from Debian; Python's are those of this environment, since no registry is
reached.
"""

import contextlib
import hashlib
import importlib.metadata
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

from django.conf import settings
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

# What an administrator of Debian 12 has installed or gets by the written steps; `apt-get install`
# in the container finds it there.
PACKAGES = ("systemd", "systemd-sysv", "dbus", "procps", "iproute2", "curl", "ca-certificates",
            "openssl", "python3", "python3-venv", "postgresql", "redis-server", "caddy",
            "libpango-1.0-0", "libpangoft2-1.0-0", "libharfbuzz-subset0", "fonts-noto-cjk",
            "fontconfig", "gettext")
PIP = "[global]\nno-index = true\nfind-links = /opt/wheels\n"
NETWORKS = range(160, 200)  # 10.N.0.0/24: one for each drill of a machine
DEBIAN = {"python_version": "3.11", "python_full_version": "3.11.2"}
CODE = "opt/delivery-desk"
BOOT_SECONDS, STEP_SECONDS = 120, 900


def missing() -> str:
    """Why such machines cannot run here; empty where they can."""
    lacking = [name for name in ("debootstrap", "systemd-nspawn", "nsenter", "ip")
               if not shutil.which(name)]
    if lacking:
        return f"needs {', '.join(lacking)} (packages debootstrap, systemd-container, iproute2)"
    if os.getuid():
        return "needs root"
    if sys.version_info[:2] != (3, 11):
        return "needs Python 3.11, whose packages Debian 12 takes"
    return "" if Path("/sys/fs/cgroup/systemd").exists() or Path(
        "/sys/fs/cgroup/cgroup.controllers").exists() else "needs cgroups"


def lacks_commit(version: str) -> bool:
    return _fails("git", "-C", settings.BASE_DIR, "cat-file", "-e", version)


def base_system() -> Path:
    """The root folder that all machines begin with; made once per machine and list of packages."""
    mark = hashlib.sha256(repr(PACKAGES).encode()).hexdigest()[:12]
    folder = Path(tempfile.gettempdir(), f"desk-drill-{mark}")
    if not folder.exists():
        made = folder.with_name(f"{folder.name}-{secrets.token_hex(4)}")
        _run("debootstrap", "--variant=minbase", "bookworm", made)
        (made / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")  # nothing starts here
        (made / "usr/sbin/policy-rc.d").chmod(0o755)
        _run("chroot", made, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-qy",
             "--no-install-recommends", *PACKAGES)
        # The port of PostgreSQL was chosen beside this machine's own.
        _run("chroot", made, "sh", "-c",
             "sed -i 's/^port = .*/port = 5432/' /etc/postgresql/*/main/postgresql.conf")
        (made / "usr/sbin/policy-rc.d").unlink()
        shutil.rmtree(made / "var/cache/apt/archives")
        made.rename(folder)
    return folder


def write_wheels(requirements: Path, folder: Path, *more: str) -> None:
    """The installed packages that a list of requirements and `more` need, as wheels again."""
    folder.mkdir(parents=True)
    wanted = [Requirement(line.partition("#")[0]) for line in requirements.read_text().splitlines()
              if line.partition("#")[0].strip()] + list(map(Requirement, more))
    done: set[tuple[str, str]] = set()
    while wanted:
        asked = wanted.pop()
        for extra in ["", *asked.extras]:
            name = canonicalize_name(asked.name)
            if (name, extra) in done:
                continue
            done.add((name, extra))
            try:
                found = importlib.metadata.distribution(asked.name)
            except importlib.metadata.PackageNotFoundError:  # of Debian's Python alone
                _run(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder,
                     f"{asked.name}{asked.specifier}")
                continue
            wanted += [needed for needed in map(Requirement, found.requires or [])
                       if not needed.marker or needed.marker.evaluate({**DEBIAN, "extra": extra})]
            if not extra:
                _write_wheel(found, folder)


def _write_wheel(found: importlib.metadata.Distribution, folder: Path) -> None:
    tag = found.read_text("WHEEL").rpartition("Tag: ")[2].split()[0]
    name = canonicalize_name(found.name).replace("-", "_")
    with zipfile.ZipFile(folder / f"{name}-{found.version}-{tag}.whl", "w") as wheel:
        record = None
        for file in found.files or []:
            if file.parts[0] == ".." or "__pycache__" in file.parts or file.name == "INSTALLER":
                continue
            if file.name == "RECORD" and file.parent.suffix == ".dist-info":
                record = file
                continue
            wheel.write(file.locate(), str(file))
        wheel.writestr(str(record), "".join(f"{name},,\n" for name in wheel.namelist()))


class Network:
    """A bridge of this machine; machines have addresses below `prefix`."""

    def __init__(self) -> None:
        for number in NETWORKS:
            self.bridge, self.prefix = f"drill{number}", f"10.{number}.0"
            if not _fails("ip", "link", "add", self.bridge, "type", "bridge"):
                break
        self.gateway = f"{self.prefix}.1"
        _run("ip", "address", "add", f"{self.gateway}/24", "dev", self.bridge)
        _run("ip", "link", "set", self.bridge, "up")

    def add(self, space: str, number: int) -> None:
        """A network namespace on the bridge."""
        link = f"{self.bridge}-{number}"
        _run("ip", "netns", "add", space)
        _run("ip", "link", "add", link, "type", "veth", "peer", "name", "host0", "netns", space)
        _run("ip", "link", "set", link, "master", self.bridge, "up")
        for words in (("address", "add", f"{self.prefix}.{number}/24", "dev", "host0"),
                      ("link", "set", "lo", "up"), ("link", "set", "host0", "up")):
            _run("ip", "-n", space, *words)

    def remove(self) -> None:
        _fails("ip", "link", "del", self.bridge)


class Machine:
    """One container. Its root folder is the base with what was written since."""

    def __init__(self, folder: Path, network: Network, name: str, number: int, base: Path) -> None:
        self.folder, self.name, self.network = folder / name, name, network
        self.address, self.space = f"{network.prefix}.{number}", f"{network.bridge}-{name}"
        self.root, self.process, self.leader = self.folder / "root", None, 0
        for part in ("root", "written", "work"):
            (self.folder / part).mkdir(parents=True)
            (self.folder / part).chmod(0o755)
        _run("mount", "-t", "overlay", "overlay", "-o",
             f"lowerdir={base},upperdir={self.folder}/written,workdir={self.folder}/work",
             self.root)
        self.network.add(self.space, number)

    def start(self, hosts: str, shared: Path, wheels: Path) -> None:
        """Boot; `hosts` are lines of /etc/hosts, `shared` is what other machines see, too,
        `wheels` what pip installs."""
        for path, text in (("etc/hosts", f"127.0.0.1 localhost\n{hosts}"),
                           ("etc/hostname", f"{self.name}\n"), ("etc/resolv.conf", ""),
                           ("etc/pip.conf", PIP), ("etc/machine-id", "")):
            (self.root / path).unlink(missing_ok=True)
            (self.root / path).write_text(text)
            (self.root / path).chmod(0o644)
        self.log = (self.folder / "console").open("ab")
        self.process = subprocess.Popen(
            ["systemd-nspawn", "--quiet", "--boot", "--register=no", "--keep-unit",
             f"--directory={self.root}", f"--machine={self.space}", f"--hostname={self.name}",
             f"--network-namespace-path=/run/netns/{self.space}", "--console=pipe",
             "--resolv-conf=off", "--link-journal=no", f"--bind={shared}:/mnt/shared",
             f"--bind-ro={wheels}:/opt/wheels"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT)
        self.until("systemctl is-system-running 2>&1 | grep -Eq 'running|degraded'", BOOT_SECONDS)

    def sh(self, script: str, *, text: str = "", **environment) -> str:
        """Type lines as root; what they printed. Raises AssertionError where one fails."""
        given = [f"{name}={value}" for name, value in environment.items()]
        done = subprocess.run(
            ["nsenter", "-a", "-t", str(self._leader()), "env", "-i", "HOME=/root", "LANG=C.UTF-8",
             "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", *given,
             "sh", "-euc", script], input=text, capture_output=True, text=True, check=False,
            timeout=STEP_SECONDS)
        shown = done.stdout + done.stderr
        assert done.returncode == 0, f"{self.name}:\n{script}\n{shown}"
        return shown

    def _leader(self) -> int:
        """The machine's PID 1 as this machine numbers it."""
        children = _run("ps", "-o", "pid=", "--ppid", self.process.pid).split()
        for pid in [] if self.leader else children:
            if Path(f"/proc/{pid}/comm").read_text() == "systemd\n":
                self.leader = int(pid)
        if not self.leader:
            raise RuntimeError("it has not begun to boot")
        return self.leader

    def until(self, script: str, seconds: float = 120) -> str:
        deadline = time.monotonic() + seconds
        while True:
            try:
                return self.sh(script)
            except (AssertionError, OSError, RuntimeError):
                assert self.process.poll() is None, (self.folder / "console").read_text()
                assert time.monotonic() < deadline, script + (self.folder / "console").read_text()
                time.sleep(1)

    def stop(self) -> None:
        """Lost, as by a power cut."""
        if self.process:
            with contextlib.suppress(OSError, RuntimeError):  # its PID 1, with all that it started
                os.kill(self._leader(), signal.SIGKILL)
            self.process.wait()
            self.log.close()
            self.process, self.leader = None, 0

    def remove(self) -> None:
        self.stop()
        _fails("umount", "--lazy", self.root)
        _fails("ip", "netns", "del", self.space)


def _run(*words) -> str:
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False,
                          env={**os.environ, "LC_ALL": "C.UTF-8"})
    if done.returncode:
        raise RuntimeError(f"{words}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def _fails(*words) -> bool:
    return subprocess.run(list(map(str, words)), capture_output=True, check=False).returncode != 0


def put_code(machine: Machine, version: str = "") -> None:
    """This working tree, or a commit of it, below /opt/delivery-desk, with the front-end packages
    of this tree."""
    folder, tree = machine.root / CODE, Path(settings.BASE_DIR)
    folder.mkdir(parents=True, exist_ok=True)
    packed = (f"git archive {version}" if version else
              "git ls-files -z -co --exclude-standard | tar --null -T - -c")
    with subprocess.Popen(["sh", "-c", packed], cwd=tree, stdout=subprocess.PIPE) as stream:
        subprocess.run(["tar", "-x", "--no-same-owner", "-C", folder], stdin=stream.stdout,
                       check=True)
    for part in ("node_modules", "static/vendor"):
        shutil.copytree(tree / part, folder / part, dirs_exist_ok=True)
    _run("chmod", "-R", "u=rwX,go=rX", folder)
