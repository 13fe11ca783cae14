"""1,000 jobs that run at once on 100 real sshd nodes, supervised by one worker process.

    python -m benchmarks.supervision [--jobs 1000] [--nodes 100] [--seconds 60]
    DATABASE_URL=postgresql://… REDIS_URL=… python -m benchmarks.supervision --world

With --world the jobs run beside the half million of `benchmarks.fleet`, in a copy of its database
(`create database … template …`): its open jobs are ended there, its nodes put into maintenance.

Prints the worker's CPU and memory, queries and messages per job-hour, and how long after a
command's end its row knows it. Needs root and sshd. Exit status 1 if a goal is missed: a quarter
of a core, 300 MB, five seconds (median).
"""

import argparse
import json
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

from benchmarks.fleet.__main__ import FOLDER as WORLD
from tests.faults.desk import EmbeddedDesk
from tests.faults.nodes import FaultyNode, enrol
from tests.faults.run import persist
from tests.ports import free_port

KIND = "test.counted"
TICK = os.sysconf("SC_CLK_TCK")
GOALS = {"cores": 0.25, "megabytes": 300, "seconds": 5}


class Bench:
    def __init__(self, folder: Path, jobs: int, nodes: int, *, in_world: bool) -> None:
        self.jobs, self.in_world = jobs, in_world
        self.nodes = [FaultyNode(folder / f"node-{n}", free_port()) for n in range(nodes)]
        self.desk = EmbeddedDesk(folder / "desk")
        self.counts = folder / "counts"
        self.counts.mkdir()
        self.desk.environment |= {"DJANGO_SETTINGS_MODULE": "benchmarks.settings",
                                  "BENCH_COUNTS": str(self.counts)}
        if in_world:
            self.desk.environment |= {
                **{name: os.environ[name] for name in ("DATABASE_URL", "REDIS_URL")},
                "DESK_SECRET_KEY": (WORLD / "demo" / "secret-key").read_text().strip()}

    def prepare(self) -> None:
        os.environ.update({k: v for k, v in self.desk.environment.items() if k != "BENCH_COUNTS"})
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        from engagements.models import Role, User
        from workers import services
        from workers.nodes import ssh

        if self.in_world:
            _quieten_world()
        name = f"supervision-{os.getpid()}"
        operator = User.objects.create_user(name, role=Role.OPERATOR)
        rows = [enrol(operator, node, f"{name}-{n}") for n, node in enumerate(self.nodes)]
        ssh.close_all()
        self.desk.start()
        for n in range(self.jobs):
            node = self.nodes[n % len(rows)]
            (node.root / f"job-{n}.sh").write_text(
                f"i=0; while [ ! -f {node.root}/end-{n} ]; do i=$((i + 1)); "
                f"echo iteration $i/9999; sleep 10; done; date +%s.%N > ended.txt\n")
            services.queue_job(actor=operator, kind=KIND, node=rows[n % len(rows)],
                               parameters={"script": str(node.root / f"job-{n}.sh")})

    def wait_until_running(self) -> None:
        from workers.models import Job, JobState

        running = Job.objects.filter(kind=KIND, state=JobState.RUNNING)
        while persist(running.all().count) < self.jobs:
            time.sleep(1)

    def age(self, hours: int) -> None:
        """Let the jobs look as if they had run for hours: then they are polled more rarely."""
        from workers.models import Job

        persist(lambda: Job.objects.filter(kind=KIND).update(
            started_at=datetime.now(UTC) - timedelta(hours=hours), timeout_seconds=10**6))
        time.sleep(6)

    def measure(self, seconds: int) -> dict[str, float]:
        worker = self.desk.running["worker"].pid
        cpu, counts, begun = _cpu(worker), self._counts(worker), time.monotonic()
        time.sleep(seconds)
        took = time.monotonic() - begun
        used, more = _cpu(worker) - cpu, self._counts(worker) - counts
        hours = self.jobs * took / 3600
        return {"cores": used / took, "megabytes": _memory(worker),
                **{name: more[name] / hours for name in ("reads", "writes", "sent", "received")}}

    def _counts(self, pid: int) -> Counter:
        return Counter(json.loads((self.counts / f"{pid}.json").read_text()))

    def delays(self, number: int) -> list[float]:
        """Seconds from the end of a command to the moment at which its row leaves `running`."""
        from workers.models import Job, JobState

        running = Job.objects.filter(kind=KIND, state=JobState.RUNNING)
        by_script = {running.get(parameters__script__endswith=f"/job-{n}.sh").pk: n
                     for n in random.sample(range(self.jobs), number)}
        for n in by_script.values():
            (self.nodes[n % len(self.nodes)].root / f"end-{n}").touch()
            time.sleep(0.05)
        found: dict[int, float] = {}
        while len(found) < number:
            left = Job.objects.filter(pk__in=set(by_script) - set(found))
            for job in persist(lambda left=left: list(left.exclude(state=JobState.RUNNING))):
                found[job.pk] = time.time() - self._ended(job, by_script[job.pk])
            time.sleep(0.02)
        return sorted(found.values())

    def _ended(self, job, n: int) -> float:
        root = self.nodes[n % len(self.nodes)].root / "jobs" / job.directory_name
        return float((root / "work" / "ended.txt").read_text())

    def jobs_there(self) -> int:
        """All jobs of the database, ended ones too."""
        from workers.models import Job

        return persist(Job.objects.count)

    def stop(self) -> None:
        self.desk.stop()
        for node in self.nodes:
            node.stop()


def _quieten_world() -> None:
    """Nothing of the world is polled: its nodes lead nowhere."""
    from workers.models import Job, JobState, Node

    Node.objects.update(state=Node.State.MAINTENANCE)
    Job.objects.filter(state=JobState.RUNNING).update(
        state=JobState.CANCELLED, next_step_at=None, finished_at=datetime.now(UTC))


def _cpu(pid: int) -> float:
    """Seconds of processor time of a process and its children."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, words[11:15])) / TICK


def _memory(pid: int) -> float:
    """Megabytes of a process that are its own or shared, as the kernel counts them (RSS)."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf(
        "SC_PAGE_SIZE") / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--world", action="store_true")
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    bench = Bench(folder, asked.jobs, asked.nodes, in_world=asked.world)
    try:
        bench.prepare()
        bench.wait_until_running()
        print("running", file=sys.stderr, flush=True)
        bench.age(hours=2)
        found = bench.measure(asked.seconds)
        delays = bench.delays(min(100, asked.jobs // 2))
        print(f"{asked.jobs} jobs on {asked.nodes} nodes for {asked.seconds} s, "
              f"{bench.jobs_there():,} jobs in the database, "
              f"load {os.getloadavg()[0]:.1f}\n")
        print("| worker | measured | goal |\n|---|---|---|")
        print(f"| cores | {found['cores']:.3f} | < {GOALS['cores']} |")
        print(f"| memory, MB | {found['megabytes']:.0f} | < {GOALS['megabytes']} |")
        print(f"| end noticed after, median s | {median(delays):.2f} | ≤ {GOALS['seconds']} |")
        print(f"| end noticed after, longest s | {delays[-1]:.2f} | |")
        for name, words in (("reads", "database reads"), ("writes", "database writes"),
                            ("sent", "messages sent"), ("received", "messages received")):
            print(f"| {words} per job-hour | {found[name]:.1f} | |")
        good = (found["cores"] < GOALS["cores"] and found["megabytes"] < GOALS["megabytes"]
                and median(delays) <= GOALS["seconds"])
    finally:
        bench.stop()
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
