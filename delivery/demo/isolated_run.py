"""Runs a management command again with a database, files and queue of its own."""

import os
import signal
import subprocess
import sys
import tempfile

from django.core.management.base import CommandError

INSIDE = "DESK_DEMO_INSIDE"


def is_inside() -> bool:
    """Whether this process is the one that `run_isolated` started."""
    return INSIDE in os.environ


def run_isolated(command: list[str], trouble: str = "The command failed; see above.") -> None:
    """Run `manage.py` with these arguments in a folder that is removed afterwards; nothing of the
    installation is touched. Raises CommandError with `trouble` where it fails."""
    stop_on_sigterm()
    with tempfile.TemporaryDirectory(prefix="desk-demo-") as folder:
        environment = {
            **os.environ, INSIDE: "1", "DESK_VAR_DIR": folder,
            "DESK_ARTIFACT_DIR": f"{folder}/artifacts",
            "DATABASE_URL": f"sqlite:///{folder}/desk.sqlite3", "DESK_LOG_LEVEL": "WARNING",
            "REDIS_URL": "", "DESK_DISPATCH_TICK_SECONDS": "0.5",
            "DESK_EMAIL_BACKEND": "django.core.mail.backends.filebased.EmailBackend"}
        status = _run([sys.executable, sys.argv[0], *command], environment)
    if status:
        raise CommandError(trouble)


def _run(command: list[str], environment: dict[str, str]) -> int:
    """The exit status of a command; ended with us, it has time to stop what it started."""
    process = subprocess.Popen(command, env=environment)
    try:
        return process.wait()
    except BaseException:
        process.terminate()
        process.wait()
        raise


def stop_on_sigterm() -> None:
    """End like after an error, so that what was started is stopped on the way out."""
    signal.signal(signal.SIGTERM, _exit)


def _exit(number: int, _frame: object) -> None:
    sys.exit(128 + number)
