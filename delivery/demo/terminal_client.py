"""The command line client beside the scenario: a consultant's terminal, with the typed client of
the API against a portal of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from django.conf import settings

from delivery.demo.child_processes import Children, free_port, wait_for, web_command
from engagements.errors import WrongState
from engagements.models import ApiToken, User
from engagements.services.api_tokens import create_token

CLIENT = settings.BASE_DIR / "client"
GENERATOR = "openapi_python_client"


def is_available() -> bool:
    """Whether the packages that the client is made with are installed (requirements-client.txt)."""
    return all(find_spec(name) for name in (GENERATOR, "yaml", "click"))


class TerminalClient:
    """Runs `desk-cli` for a person.

    Args:
        folder: where the typed client is made, of the committed schema.
        log: hears each command.
    """

    def __init__(self, folder: Path, person: User, log: Callable[[str], None]) -> None:
        self.folder, self.person, self.log = folder, person, log
        self.environment: dict[str, str] = {}

    def start(self, children: Children) -> None:
        """Make the client, start a portal, and give the person a token that can run jobs."""
        subprocess.run([sys.executable, CLIENT / "generate.py", "--out",
                        self.folder / "desk_client"], check=True, stderr=subprocess.DEVNULL)
        port = free_port()
        children.start("portal", web_command("127.0.0.1", port))
        wait_for("127.0.0.1", port)
        _token, key = create_token(actor=self.person, owner=self.person, name="desk-cli",
                                   scope=ApiToken.Scope.JOBS)
        self.environment = {
            **os.environ, "DESK_URL": f"http://127.0.0.1:{port}", "DESK_TOKEN": key,
            "PYTHONPATH": os.pathsep.join(map(str, (self.folder, CLIENT)))}

    def run(self, *words: object) -> str:
        """What the command printed. Raises WrongState with its message where it fails."""
        command = list(map(str, words))
        done = subprocess.run([sys.executable, "-m", "desk_cli", *command], text=True, check=False,
                              env=self.environment, capture_output=True)
        self.log(f"  desk-cli {' '.join(command)}")
        if done.returncode:
            raise WrongState(f"desk-cli {command[0]}: exit status {done.returncode} – "
                             f"{done.stderr.strip() or done.stdout.strip()}")
        return done.stdout
