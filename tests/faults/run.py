"""Runs jobs while things break, then checks that nothing was lost and nothing done twice.

    python -m tests.faults.run --backend embedded --jobs 100 --faults 200 --seed 7

Backends: embedded (SQLite, broker in a folder), server (PostgreSQL, Redis), hosts (the same with
workers and schedulers on two hosts that get cut off). Needs root, sshd.
Runtimes: host (the desk's own queue), slurm (each node a cluster with controller and daemon),
container (each job a new container of the node's podman), kubernetes (each node a cluster whose
server speaks Kubernetes' API and runs pods as processes).
"""

import argparse
import collections
import contextlib
import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from tests.faults import desk as desks
from tests.faults.browse import Onlooker
from tests.faults.desk import ROOT, Desk
from tests.faults.hosts import TwoHostDesk
from tests.faults.nodes import CONTROLLERS, RUNTIMES, FaultyNode, enrol
from tests.ports import free_port

DESKS = {**desks.DESKS, "hosts": TwoHostDesk}
SERVERS = ("sshd", "/usr/sbin/sshd", "/usr/sbin/munged", "/usr/sbin/slurmctld", "slurmctld:",
           "/usr/sbin/slurmd ", f"{sys.executable} -m tests.workers.kubernetes_cluster")
SCRIPT = """
echo {key} >> {root}/book
n=0
while [ $n -lt {lines} ]; do
    n=$((n + 1)); echo "iteration $n/{lines} | lm loss: 1.$n | {key} {padding}"; sleep {pause}
done
head -c {size} /dev/urandom > one.bin
head -c {big} /dev/urandom > two.bin
echo {key} > key.txt
exit {status}
"""


class Trial:
    """One run: desk, nodes, jobs, faults, checks."""

    def __init__(self, desk: Desk, folder: Path, chance: random.Random, nodes: int,
                 runtime: str = "host") -> None:
        self.desk, self.chance, self.runtime = desk, chance, runtime
        self.nodes = [FaultyNode(folder / f"node-{n}", free_port(), runtime, desk.nodes_address)
                      for n in range(nodes)]
        self.injected: collections.Counter[str] = collections.Counter()
        self.lasting: list[threading.Thread] = []
        self.keys: dict[int, str] = {}

    # The desk -------------------------------------------------------------------

    def prepare(self) -> None:
        """Database, people and nodes, through the product's own services."""
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        from engagements.models import Role, User
        from workers.nodes import ssh

        self.operator = User.objects.create_user("operator", role=Role.OPERATOR)
        self.rows = [enrol(self.operator, node, f"node-{number}", through_line=True)
                     for number, node in enumerate(self.nodes)]
        self.runtimes = [self._container_of(node) if node.engine else None for node in self.nodes]
        ssh.close_all()

    def _container_of(self, node: FaultyNode):
        from workers.services import runtimes

        return runtimes.save_runtime(
            actor=self.operator, name=node.root.name, place="container",
            options={"image": node.image, "devices": "none", "mounts": f"{node.root}:{node.root}"})

    def queue(self, count: int) -> None:
        """Queue jobs over half a minute; every tenth is cancelled sooner or later."""
        for number in range(count):
            job = persist(lambda number=number: self._queue_one(number))
            self.keys[job.pk] = f"job-{number}"
            if number % 10 == 3:
                self._later(self.chance.uniform(0, 6), lambda job=job: self._cancel(job))
            time.sleep(self.chance.uniform(0, 0.6))

    def _queue_one(self, number: int):
        from workers import services

        which = number % len(self.nodes)
        root = self.nodes[which].root
        script = root / f"job-{number}.sh"
        script.write_text(SCRIPT.format(
            key=f"job-{number}", root=root, padding="x" * 60,
            lines=self.chance.randint(1, 40), pause=self.chance.choice(["0.05", "0.2", "0.5"]),
            size=self.chance.randint(0, 300_000), status=self.chance.choice([0, 0, 0, 3]),
            big=self.chance.choice([0, 0, 6_000_000])))
        return services.queue_job(
            actor=self.operator, kind="test.counted", node=self.rows[which],
            runtime=self.runtimes[which],
            parameters={"script": str(script), "cards": self.chance.choice([0, 0, 1, 2, 4, 8])})

    def _cancel(self, job) -> None:
        from engagements.errors import WrongState
        from workers import services

        with contextlib.suppress(WrongState):
            persist(lambda: services.cancel_job(actor=self.operator, job=job))

    # Faults ---------------------------------------------------------------------

    def inject(self, count: int) -> None:
        """Random faults; those that last go on in the background."""
        faults = [
            (6, "kill worker", lambda: self.desk.kill("worker")),
            (2, "kill beat", lambda: self.desk.kill("beat")),
            (2, "kill web", lambda: self.desk.kill("web")),
            (3, "broker emptied", self.desk.empty_broker),
            (3, "messages doubled and reordered", lambda: self.desk.double_messages(self.chance)),
            (2, "database disturbed", lambda: self._lasting(
                lambda: self.desk.disturb_database(self.chance))),
            (6, "SSH sessions killed", lambda: self._drop(self._any())),
            (2, "sshd frozen", lambda: self._for(3, 25, self._any().freeze_servers)),
            (2, "line half-open", lambda: self._for(3, 25, self._silence(self._any()))),
            (3, "network cut", lambda: self._for(2, 15, self._any().line.cut)),
            (1, "node rebooted", lambda: self._any().reboot()),
            (1, "store full", lambda: self._for(2, 8, self.desk.fill_store)),
            (1, "clock wrong", lambda: self._any().set_clock(self.chance.randint(-9000, 90000))),
            *self._faults_of_runtime(),
            *[(weight, name, lambda switch=switch: self._for(3, 70, switch()))
              for weight, name, switch in self.desk.lasting_faults()],
        ]
        self._count("network cut beyond every timeout")
        self._for(75, 80, self._any().line.cut)
        for _n in range(count - 1):
            name, fault = self.chance.choices(
                [(name, fault) for _weight, name, fault in faults],
                [weight for weight, _name, _fault in faults])[0]
            self._count(name)
            fault()
            time.sleep(self.chance.uniform(0.1, 0.9))

    def _faults_of_runtime(self) -> list[tuple]:
        if self.runtime in CONTROLLERS:
            return [(3, "controller frozen", lambda: self._for(3, 25, self._freeze(self._any())))]
        if self.runtime == "container":
            return [(2, "container's watcher killed", lambda: self._any().kill_one("conmon"))]
        return []

    def _freeze(self, node: FaultyNode):
        return lambda is_frozen: node.freeze_servers(is_frozen, CONTROLLERS[self.runtime])

    def _count(self, name: str) -> None:
        self.injected[name] += 1

    def _any(self) -> FaultyNode:
        return self.chance.choice(self.nodes)

    def _drop(self, node: FaultyNode) -> None:
        node.line.drop()

    def _silence(self, node: FaultyNode):
        def silent(is_silent: bool) -> None:
            node.line.is_silent = is_silent

        return silent

    def _for(self, shortest: float, longest: float, fault) -> None:
        """Switch a fault on, and off again after a while."""
        fault(True)
        self._later(self.chance.uniform(shortest, longest), lambda: fault(False))

    def _later(self, seconds: float, action) -> None:
        self._lasting(lambda: (time.sleep(seconds), action()))

    def _lasting(self, action) -> None:
        thread = threading.Thread(target=action, daemon=True)
        thread.start()
        self.lasting.append(thread)

    def heal(self) -> None:
        for thread in self.lasting:
            thread.join()
        self.desk.fill_store(False)
        for node in self.nodes:
            node.line.is_silent = False
            node.line.cut(False)
            node.freeze_servers(False)
            node.freeze_servers(False, CONTROLLERS.get(self.runtime, "sshd"))

    # The end --------------------------------------------------------------------

    def wait(self, seconds: float) -> float:
        """Until every job is final. Returns how long that took after the last fault."""
        from workers.models import Job

        begun = time.monotonic()
        while time.monotonic() - begun < seconds:
            if not persist(lambda: Job.objects.in_flight().count()):
                break
            time.sleep(0.5)
        return time.monotonic() - begun

    def check(self, count: int) -> dict[str, list[str]]:
        """What is wrong, by what was promised; empty lists if nothing is."""
        from workers.models import CardLease, Job, JobState

        jobs = list(Job.objects.select_related("node").prefetch_related("artifacts"))
        wrong: dict[str, list[str]] = {
            "every job queued": [] if len(jobs) == count else [f"{len(jobs)} of {count}"],
            "every job final": [f"{j}: {j.state}" for j in jobs if not j.is_final],
            "true final state": [], "ran exactly once": [], "log identical": [],
            "files verified": [],
            "every lease free": [str(lease.job) for lease in CardLease.objects.filter(
                released_at=None).select_related("job")],
            "no orphan process": [f"{node.root.name}: {name}" for node in self.nodes
                                  for name in orphans(node)]}
        for job in jobs:
            Evidence(self, job).check(wrong, JobState)
        return wrong


class Evidence:
    """What the node knows about one job."""

    def __init__(self, trial: Trial, job) -> None:
        self.job = job
        self.node = trial.nodes[trial.rows.index(job.node)]
        self.key = trial.keys[job.pk]
        self.folder = self.node.root / "jobs" / job.directory_name
        self.times = self.node.ran().get(self.key, 0)
        # A command in a container may end after its wrapper outside was killed.
        written = [file for name in ("exit", "box/exit") if (file := self.folder / name).exists()]
        self.status = int(written[0].read_text()) if written else None

    def check(self, wrong: dict[str, list[str]], states) -> None:
        job = self.job
        expected = self._true_states(states)
        if job.state not in expected:
            wrong["true final state"].append(
                f"{job} {self.key}: {job.state}, the node says {self.status} "
                f"({job.sentence} {job.technical_cause[-300:]})")
        if self.times > 1 or (self.times == 0 and job.state in (states.SUCCEEDED, states.FAILED)):
            wrong["ran exactly once"].append(f"{job} {self.key}: {self.times} times")
        if job.state in (states.SUCCEEDED, states.FAILED, states.LOST):
            self._check_log(wrong)
        if job.state in (states.SUCCEEDED, states.FAILED):
            self._check_files(wrong)

    def _true_states(self, states) -> set[str]:
        if self.status is None:
            return {states.CANCELLED if self.job.cancel_requested_at else states.LOST}
        ended = {states.SUCCEEDED if self.status == 0 else states.FAILED}
        return ended | ({states.CANCELLED} if self.job.cancel_requested_at else set())

    def _check_log(self, wrong: dict[str, list[str]]) -> None:
        there = (self.folder / "log").read_bytes() if (self.folder / "log").exists() else b""
        stored = [a for a in self.job.artifacts.all() if a.name == "log.txt"]
        here = stored[0].file.read() if stored else b""
        if here != there:
            wrong["log identical"].append(
                f"{self.job} {self.key} {self.job.state}: {len(here)} bytes of {len(there)}")

    def _check_files(self, wrong: dict[str, list[str]]) -> None:
        here = {a.name: a.sha256 for a in self.job.artifacts.all() if a.name != "log.txt"}
        there = {file.name: hashlib.sha256(file.read_bytes()).hexdigest()
                 for file in (self.folder / "work").iterdir()}
        if here != there:
            wrong["files verified"].append(f"{self.job} {self.key}: {sorted(here)}")


def orphans(node: FaultyNode) -> list[str]:
    """Processes on the node that are not its servers' own."""
    names = []
    for pid in node.processes():
        with contextlib.suppress(OSError):
            command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
            if command and state != "Z" and not command.startswith(SERVERS):
                names.append(command.strip())
    return names


def persist(action, seconds: float = 120):
    """Do something with the database although it is away now and then."""
    from django.db import DatabaseError, connection

    deadline = time.monotonic() + seconds
    while True:
        try:
            return action()
        except DatabaseError:
            connection.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(0.3)


def table(trial: Trial, jobs: int, seed: int, healed: float, wrong: dict[str, list[str]]) -> str:
    lines = [f"| {trial.desk.name}, {trial.runtime} | seed {seed} |", "|---|---|",
             f"| jobs | {jobs} |", f"| faults | {sum(trial.injected.values())} |"]
    lines += [f"| – {name} | {count} |" for name, count in sorted(trial.injected.items())]
    lines.append(f"| processes restarted | {trial.desk.deaths} |")
    lines.append(f"| seconds from the last fault to the last end | {healed:.0f} |")
    lines += [f"| {name} | {'yes' if not found else f'NO: {len(found)}'} |"
              for name, found in wrong.items()]
    return "\n".join(lines)


def states_line() -> str:
    from workers.models import Job

    counted = collections.Counter(Job.objects.values_list("state", flat=True))
    return "| final states | " + ", ".join(f"{n} {s}" for s, n in counted.most_common()) + " |"


def run(backend: str, jobs: int, faults: int, seed: int, folder: Path, nodes: int = 4,
        pictures: Path | None = None, runtime: str = "host",
        migrated: Path | None = None) -> dict[str, list[str]]:
    """One trial; prints its table and returns what is wrong."""
    chance = random.Random(seed)
    desk = DESKS[backend](folder / "desk")
    os.environ.update(desk.environment)
    import django

    django.setup()
    desk.chance = chance
    if migrated and backend == "embedded":
        shutil.copy(migrated, folder / "desk" / "desk.sqlite3")
    trial = Trial(desk, folder, chance, nodes, runtime)
    try:
        trial.prepare()
        desk.start()
        onlooker = Onlooker(desk, trial.operator, pictures) if pictures else None
        from tests.faults.witness import Witness

        witness = Witness(trial)
        queueing = threading.Thread(target=trial.queue, args=[jobs])
        queueing.start()
        trial.inject(faults)
        queueing.join()
        trial.heal()
        healed = trial.wait(400)
        time.sleep(2)
        wrong = trial.check(jobs) | {"every sentence true": persist(witness.stop), "commands seen":
                                     [] if witness.seen else ["the witness saw none run"]}
        lines = onlooker.stop() if onlooker else []
        wrong |= onlooker.wrong if onlooker else {}
        print(table(trial, jobs, seed, healed, wrong), states_line(),
              f"| sentences compared with process tables | {witness.compared}, "
              f"{len(witness.seen)} of {jobs} commands seen running |",
              *lines, sep="\n", flush=True)
        for name, found in wrong.items():
            for line in found[:8]:
                print(f"{name}: {line}", file=sys.stderr)
        return wrong
    finally:
        desk.stop()
        for node in trial.nodes:
            node.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=[*DESKS, "both"], default="both")
    parser.add_argument("--jobs", type=int, default=100)
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--runtime", choices=RUNTIMES, default="host")
    parser.add_argument("--seed", type=int, default=random.randrange(10_000))
    parser.add_argument("--browse", type=Path, metavar="FOLDER",
                        help="look at the portal in Chromium meanwhile; pictures go there")
    parser.add_argument("--migrated", type=Path, metavar="FILE",
                        help="a SQLite database with every migration to begin with")
    parser.add_argument("--keep", action="store_true", help="leave the folder for a look")
    options = parser.parse_args()
    if (options.backend, options.runtime) == ("hosts", "kubernetes"):
        parser.error("the cluster's server listens on this machine alone; take another backend")
    if options.backend == "both":
        sys.exit(max(again(backend, options) for backend in DESKS))
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    try:
        wrong = run(options.backend, options.jobs, options.faults, options.seed, folder,
                    options.nodes, options.browse, options.runtime, options.migrated)
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    sys.exit(any(wrong.values()))


def again(backend: str, options) -> int:
    """This command in a process of its own: Django is set up once per process."""
    return subprocess.run(
        [sys.executable, "-m", "tests.faults.run", "--backend", backend, "--jobs",
         str(options.jobs), "--faults", str(options.faults), "--nodes", str(options.nodes),
         "--seed", str(options.seed), "--runtime", options.runtime,
         *(["--browse", options.browse / backend] if options.browse else [])],
        cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    main()
