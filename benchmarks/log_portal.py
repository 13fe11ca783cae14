"""A portal as `./desk run` starts it, with a job whose log the benchmark writes."""

import os
import signal
import subprocess
import tempfile
import urllib.request
from pathlib import Path

from tests.faults.desk import ROOT
from tests.ports import free_port

LINE = " iteration {n:8d} | lm loss: 1.234567E+00 | elapsed time per iteration (ms): 512.3 |"


class Portal:
    """Starts on entry, stops on exit. `base` is its address, `cookie` an operator's session."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="bench-log-"))
        (self.folder / "static").mkdir()
        os.environ |= {"DJANGO_SETTINGS_MODULE": "benchmarks.log_settings", "REDIS_URL": "",
                       "DESK_VAR_DIR": str(self.folder), "DESK_RENDER_PROCESS": "false",
                       "DJANGO_ALLOW_ASYNC_UNSAFE": "true",
                       "DATABASE_URL": f"sqlite:///{self.folder / 'desk.sqlite3'}"}
        import django

        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        self.job, self.cookie = self._job(), self._cookie()

    def _job(self):
        from engagements.models import Role, User
        from workers.models import Job, Node

        self.operator = User.objects.create_user("operator", role=Role.OPERATOR)
        node = Node.objects.create(name="n", host="127.0.0.1", username="x", state="maintenance")
        return Job.objects.create(kind="env.npu_info", node=node, state="running",
                                  created_by=self.operator)

    def _cookie(self) -> str:
        from django.test import Client

        client = Client()
        client.force_login(self.operator, "django.contrib.auth.backends.ModelBackend")
        return client.cookies["sessionid"].value

    def __enter__(self) -> "Portal":
        from delivery.demo.child_processes import wait_for, web_command

        self.port = free_port()
        self.base = f"http://127.0.0.1:{self.port}"
        self.process = subprocess.Popen(web_command("127.0.0.1", self.port), cwd=ROOT,
                                        start_new_session=True)
        wait_for("127.0.0.1", self.port)
        self._warm_up()
        self.server = _children(self.process.pid)[0]
        return self

    def _warm_up(self) -> None:
        """The first answer imports every page."""
        request = urllib.request.Request(f"{self.base}/nodes/",
                                         headers={"Cookie": f"sessionid={self.cookie}"})
        for _n in range(3):
            urllib.request.urlopen(request, timeout=60).close()

    def __exit__(self, *_error) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def write(self, text: str) -> None:
        """What the worker does with a new part of the log."""
        from workers.logs import live_log
        from workers.models import Job

        data = text.encode()
        live_log.write_at(live_log.path(self.job), self.job.log_stored, data)
        self.job.log_stored += len(data)
        Job.objects.filter(pk=self.job.pk).update(log_stored=self.job.log_stored)

    def processor_seconds(self) -> float:
        """What the process that answers has used."""
        words = Path(f"/proc/{self.server}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mb(self) -> tuple[float, float]:
        """Resident now, and at most so far."""
        lines = dict(line.split(":", 1) for line in
                     Path(f"/proc/{self.server}/status").read_text().splitlines())
        return tuple(int(lines[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))

    def database_connections(self) -> int:
        """Open descriptors of the database file in the process that answers."""
        links = Path(f"/proc/{self.server}/fd").iterdir()
        return sum(_target(link).endswith("desk.sqlite3") for link in links)


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ""


def _children(pid: int) -> list[int]:
    return [int(word) for word in
            Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
