"""Files from a real sshd into the store, beside OpenSSH's own `sftp`.

    python -m benchmarks.transfers [--rounds 3] [--megabytes 1024] [--files 2000]

Ours is the collecting step of a job: list, SHA-256 on the node, transfer, SHA-256 here, store.
The competitor copies the same files with `sftp` (`-r` for the many) and runs `sha256sum` on them.
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

from tests.faults.desk import free_port
from tests.faults.nodes import FaultyNode, enrol


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

    def ours(self, job, files: int) -> float:
        from workers.collecting import storing

        begun = time.monotonic()
        storing.collect(job)
        took = time.monotonic() - begun
        assert job.artifacts.count() == files
        for artifact in job.artifacts.all():
            artifact.file.delete(save=False)
        return took

    def sftp(self) -> float:
        target = self.folder / "copied"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        begun = time.monotonic()
        subprocess.run(
            ["sftp", "-q", "-r", "-o", "StrictHostKeyChecking=no", "-o",
             "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-i",
             self.node.root / "client_key", "-P", str(self.node.port),
             f"root@127.0.0.1:{self.work}", target], check=True, stdout=subprocess.DEVNULL)
        subprocess.run("find . -type f -exec sha256sum {} + > sums", shell=True, check=True,
                       cwd=target)
        return time.monotonic() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--files", type=int, default=2000)
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    bench = Bench(folder)
    works = [(f"one file of {asked.megabytes} MB", 1, asked.megabytes * 2**20, 1.0),
             (f"{asked.files} files of 4 KB", asked.files, 4096, 2.0)]
    is_good = True
    try:
        print(f"load {os.getloadavg()[0]:.1f}\n\n| | ours, s | sftp + sha256sum, s | "
              "ours is | goal |\n|---|---|---|---|---|")
        for name, files, size, goal in works:
            ours, sftp = [], []
            for _round in range(asked.rounds):
                job = bench.job(files, size)
                sftp.append(bench.sftp())
                ours.append(bench.ours(job, files))
                shutil.rmtree(bench.work)
            ratio = median(sftp) / median(ours)
            is_good &= ratio >= goal
            print(f"| {name} | {median(ours):.2f} | {median(sftp):.2f} | ×{ratio:.2f} | "
                  f"≥ ×{goal:.0f} |", flush=True)
    finally:
        bench.node.stop()
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(0 if is_good else 1)


if __name__ == "__main__":
    main()
