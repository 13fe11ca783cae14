"""The sample engagement from start to end with a node and a worker of its own."""

from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.db import connection

from delivery.demo.child_processes import (
    Children,
    free_port,
    node_command,
    wait_for,
    worker_command,
)
from delivery.demo.sample_engagement import load_sample
from delivery.demo.sample_node import enrol_practice_node
from delivery.demo.scenario import Scenario
from delivery.demo.step_memory import begin_practice
from delivery.demo.terminal_client import TerminalClient, is_available
from engagements.models import User

STEPS = ("survey", "offer", "order", "criteria", "agreements", "environment", "terminal_job",
         "adaptation", "tuning", "inference", "report", "provisional", "acceptance", "sheets",
         "terminal_files")


class DemoScenario(Scenario):
    """The sample's steps, and what a consultant does in a terminal."""

    terminal: TerminalClient | None = None

    def terminal_job(self) -> None:
        """A job queued and followed to its end over the API."""
        if self.terminal:
            printed = self.terminal.run(
                "jobs", "run", "env.host_probe", "--engagement", self.engagement.code,
                "--node", self.node.name, "--follow")
            self.log(f"  {printed.splitlines()[-1]}")

    def terminal_files(self) -> None:
        """The issued files and the bundle, as the customer's people fetch them."""
        if self.terminal:
            brought = self.terminal.run("documents", "get", self.engagement.code, "--bundles",
                                        "-o", self.out / "fetched")
            self.log(f"  {len(brought.splitlines())} files fetched, their checksums are right")


def run_demo(out: Path, log: Callable[[str], None]) -> None:
    """All steps in order; documents go to `out`.

    Raises DeskError or TimeoutError at the first step that fails.
    """
    children = Children()
    try:
        scenario = _start(children, out, log)
        for step in STEPS:
            log(f"• {step}")
            getattr(scenario, step)()
    finally:
        children.stop()


def _start(children: Children, out: Path, log: Callable[[str], None]) -> DemoScenario:
    root, port = Path(settings.VAR_DIR) / "practice-node", free_port()
    children.start("practice node", node_command(root, port))
    wait_for("127.0.0.1", port)
    engagement = load_sample()
    begin_practice()
    node = enrol_practice_node(root, "127.0.0.1", port)
    who = {user.username: user for user in User.objects.all()}
    scenario = DemoScenario(engagement, node, who, log=log, out=out, tend=children.restart_ended)
    if is_available():
        scenario.terminal = TerminalClient(Path(settings.VAR_DIR) / "client", who["consultant"],
                                           log)
        scenario.terminal.start(children)
    else:
        log("• without desk-cli: requirements-client.txt is not installed (./desk client does)")
    connection.close()
    children.start("worker", worker_command())
    log(f"• engagement {engagement.code} with {engagement.models.count()} models, "
        f"node {node} enrolled")
    return scenario
