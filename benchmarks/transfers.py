"""Files from a real sshd into the store, beside OpenSSH's own `sftp`.

    python -m benchmarks.transfers [--rounds 3] [--megabytes 1024] [--files 2000]

Ours is the collecting step of a job: list, SHA-256 on the node, transfer, SHA-256 here, store.
The competitor copies the same files with `sftp` (`-r` for the many) and runs `sha256sum` on them.
Both take turns; a ratio is that of the medians. Nothing small is deleted before the end: after a
deletion ext4 looks for inodes so long (`recently_deleted`) that whoever comes next pays for it;
the small files come first, so that none has to wait until a gigabyte of others is written.
Exit status 1 if a goal is missed: as fast for the large file, twice as fast for the many.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from tests.faults.nodes import FaultyNode, enrol
from tests.ports import free_port


class Bench:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.node = FaultyNode(folder / "node", free_port())
        os.environ |= {"DJANGO_SETTINGS_MODULE": "tests.faults.settings", "REDIS_URL": "",
                       "DESK_VAR_DIR": str(folder / "var"),
                       "DESK_ARTIFACT_DIR": str(folder / "store"),
                       "DATABASE_URL": f"sqlite:///{folder / 'desk.sqlite3'}"}
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        from engagements.models import Role, User

        operator = User.objects.create_user("operator", role=Role.OPERATOR)
        self.row = enrol(operator, self.node, "n")

    def job(self, files: int, size: int):
        """A job that has ended and left these files, with bytes of their own."""
        from workers.models import Job, JobState

        job = Job.objects.create(kind="test.counted", node=self.row, state=JobState.COLLECTING)
        self.work = self.node.root / "jobs" / job.directory_name / "work"
        self.work.mkdir(parents=True)
        for n in range(files):
            with (self.work / f"file-{n:04}.bin").open("wb") as target:
                for _part in range(max(1, size // 2**20)):
                    target.write(os.urandom(min(size, 2**20)))
        return job

    def ours(self, job, files: int) -> tuple[float, float]:
        """Seconds by the clock, and of this process's processor."""
        from workers.dispatch import job_files

        begun, used = time.monotonic(), time.process_time()
        job_files.collect(job)
        took = time.monotonic() - begun, time.process_time() - used
        assert job.artifacts.count() == files
        return took

    def sftp(self) -> tuple[float, float]:
        """Seconds by the clock, and of the two programs' processor."""
        target = Path(tempfile.mkdtemp(prefix="copied-", dir=self.folder))
        begun, used = time.monotonic(), _of_children()
        subprocess.run(
            ["sftp", "-q", "-r", "-o", "StrictHostKeyChecking=no", "-o",
             "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-i",
             self.node.root / "client_key", "-P", str(self.node.port),
             f"root@127.0.0.1:{self.work}", target], check=True, stdout=subprocess.DEVNULL)
        subprocess.run("find . -type f -exec sha256sum {} + > sums", shell=True, check=True,
                       cwd=target)
        return time.monotonic() - begun, _of_children() - used

    def tidy(self) -> None:
        """Free the space of a large file, on the node, in the store and where sftp put it."""
        shutil.rmtree(self.work)
        for place in (self.folder / "store" / "sha256", *self.folder.glob("copied-*")):
            shutil.rmtree(place)


def _of_children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def _compare(bench: Bench, rounds: int, name: str, files: int, size: int, goal: float) -> bool:
    """Whether the goal is met; prints a row."""
    ours, sftp = [], []
    for number in range(rounds):
        job = bench.job(files, size)
        turns = [(sftp, bench.sftp), (ours, lambda job=job: bench.ours(job, files))]
        for kept, run in turns if number % 2 else reversed(turns):
            kept.append(run())
        if files == 1:
            bench.tidy()
    (mine, my_cpu), (theirs, their_cpu) = (map(median, zip(*kept, strict=True))
                                           for kept in (ours, sftp))
    print(f"| {name} | {mine:.2f} | {theirs:.2f} | ×{theirs / mine:.2f} | ≥ ×{goal:.0f} | "
          f"{my_cpu:.2f} | {their_cpu:.2f} |", flush=True)
    return theirs / mine >= goal


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--files", type=int, default=2000)
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    bench = Bench(folder)
    works = [(f"{asked.files} files of 4 KB", asked.files, 4096, 2.0),
             (f"one file of {asked.megabytes} MB", 1, asked.megabytes * 2**20, 1.0)]
    is_good = True
    try:
        print(f"load {os.getloadavg()[0]:.1f}\n\n| | ours, s | sftp + sha256sum, s | "
              "ours is | goal | processor, s: ours | sftp |\n|---|---|---|---|---|---|---|")
        for name, files, size, goal in works:
            is_good &= _compare(bench, asked.rounds, name, files, size, goal)
    finally:
        bench.node.stop()
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
