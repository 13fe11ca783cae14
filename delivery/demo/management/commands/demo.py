"""The main job without a browser: from survey to the signed acceptance, on the practice node."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from engagements.errors import DeskError

INSIDE = "DESK_DEMO_INSIDE"


class Command(BaseCommand):
    help = "Takes the sample engagement to a signed acceptance; its documents are left in a folder."

    def add_arguments(self, parser):
        parser.add_argument("--out", type=Path, required=True, help="folder for the results")

    def handle(self, *args, out: Path, **options):
        signal.signal(signal.SIGTERM, _exit)  # what was started is stopped on the way out
        out = out.resolve()
        out.mkdir(parents=True, exist_ok=True)
        if INSIDE in os.environ:
            self._run_scenario(out)
        else:
            self._run_isolated(out)

    def _run_isolated(self, out: Path) -> None:
        """Run again with a database, files and queue of their own; nothing of yours is touched."""
        with tempfile.TemporaryDirectory(prefix="desk-demo-") as folder:
            environment = {
                **os.environ, INSIDE: "1", "DESK_VAR_DIR": folder,
                "DESK_ARTIFACT_DIR": f"{folder}/artifacts",
                "DATABASE_URL": f"sqlite:///{folder}/desk.sqlite3", "DESK_LOG_LEVEL": "WARNING",
                "REDIS_URL": "", "DESK_DISPATCH_TICK_SECONDS": "0.5",
                "DESK_EMAIL_BACKEND": "django.core.mail.backends.filebased.EmailBackend"}
            status = _run([sys.executable, sys.argv[0], "demo", "--out", str(out)], environment)
        if status:
            raise CommandError("The scenario did not reach its end; the lines above say where.")

    def _run_scenario(self, out: Path) -> None:
        from delivery.demo.scenario_runs import run_demo

        call_command("migrate", verbosity=0)
        began = time.monotonic()
        try:
            run_demo(out, self._print)
        except (DeskError, TimeoutError) as error:
            raise CommandError(str(error)) from error
        self._print(f"done in {time.monotonic() - began:.0f} s; results in {out}")

    def _print(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()


def _run(command: list[str], environment: dict[str, str]) -> int:
    """The exit status of a command; ended with us, it has time to stop what it started."""
    process = subprocess.Popen(command, env=environment)
    try:
        return process.wait()
    except BaseException:
        process.terminate()
        process.wait()
        raise


def _exit(number: int, _frame: object) -> None:
    sys.exit(128 + number)
