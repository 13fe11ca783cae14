"""Jobs on a real Slurm: stepped until something is true of them, and what runs on this machine."""

import subprocess
import time

from django.utils.translation import override

from workers.dispatch import runner
from workers.models import Job


def until(job: Job, done, seconds: float = 60) -> Job:
    """Steps the job until `done` says so."""
    deadline = time.monotonic() + seconds
    while not done(job):
        assert time.monotonic() < deadline, (job.state, job.sentence, job.technical_cause)
        Job.objects.filter(pk=job.pk).update(next_step_at=None)
        runner.advance_while_due(job.pk, most=1)
        job.refresh_from_db()
        time.sleep(0.2)
    return job


def ended(job: Job) -> bool:
    return job.is_final


def shown(job: Job) -> str:
    with override("en"):
        return job.sentence


def runs(command: str) -> bool:
    return subprocess.run(["pgrep", "-f", f"^{command}"], capture_output=True,
                          check=False).returncode == 0
