"""Plays the scenario: the engagements of a first start beside a running portal, or one engagement
with a node and a worker of its own."""

from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.utils.translation import override

from delivery.demo.child_processes import (
    Children,
    free_port,
    node_command,
    wait_for,
    worker_command,
)
from delivery.demo.models import PracticeStep
from delivery.demo.sample_firm import NODE_NAME, PLAYED, SAMPLE
from delivery.demo.sample_node import enrol_practice_node
from delivery.demo.sample_setup import crew_of, load_sample, set_up
from delivery.demo.scenario import Scenario
from delivery.demo.step_memory import (
    PROGRESS_KEY,
    PracticeRemoved,
    StepMemory,
    require_practice,
    show_progress,
)
from delivery.demo.terminal_client import TerminalClient, is_available
from engagements.errors import DeskError
from workers.models import Node

PARTS = [(spec, step) for spec in PLAYED for step in ("set_up", *spec.steps)]
FINISHED = "finished"


def is_played() -> bool:
    """Whether the scenario has come to its end on this database."""
    return PracticeStep.objects.filter(name__startswith=f"{FINISHED}.").exists()


def play(log: Callable[[str], None]) -> None:
    """All engagements of a first start; goes on where it was stopped, and ends quietly where the
    practice data is removed.

    Raises DeskError or TimeoutError at the first step that fails; the banner says it too.
    """
    try:
        with override("zh-hans"):
            _play(log)
        cache.delete(PROGRESS_KEY)
    except PracticeRemoved:
        cache.delete(PROGRESS_KEY)
    except (DeskError, TimeoutError, DatabaseError) as error:
        if not _is_removed():
            show_progress(done=0, total=len(PARTS), trouble=str(error))
            raise
        cache.delete(PROGRESS_KEY)


def _play(log: Callable[[str], None]) -> None:
    node, progress = Node.objects.get(name=NODE_NAME), _Progress(log)
    for spec in PLAYED:
        progress.begin_part("set_up")
        who = crew_of(spec)
        engagement = set_up(spec, StepMemory(spec.code), who)
        Scenario(spec, engagement, node, who, log=log, tend=progress.show).play(
            progress.begin_part)
    StepMemory(FINISHED).once("all", lambda: None)


class _Progress:
    """What the banner shows: set when a part begins, again while its jobs are waited for."""

    def __init__(self, log: Callable[[str], None]) -> None:
        self.log, self.parts = log, enumerate(PARTS)

    def begin_part(self, step: str) -> None:
        done, (spec, _step) = next(self.parts)
        self.log(f"• {spec.code} {step}")
        self.facts = {"done": done, "engagement": spec.code, "step": step}
        self.show()

    def show(self) -> None:
        show_progress(total=len(PARTS), **self.facts)


def _is_removed() -> bool:
    try:
        require_practice()
    except PracticeRemoved:
        return True
    return False


def run_demo(out: Path, log: Callable[[str], None]) -> None:
    """The first engagement on an empty database, from start to end; documents go to `out`.

    Raises DeskError or TimeoutError at the first step that fails.
    """
    children = Children()
    try:
        _start_demo(children, out, log).play(lambda step: log(f"• {step}"))
    finally:
        children.stop()


def _start_demo(children: Children, out: Path, log: Callable[[str], None]) -> Scenario:
    root, port = Path(settings.VAR_DIR) / "practice-node", free_port()
    children.start("practice node", node_command(root, port))
    wait_for("127.0.0.1", port)
    engagement = load_sample()
    node = enrol_practice_node(root, "127.0.0.1", port)
    who, terminal = crew_of(SAMPLE), None
    if is_available():
        terminal = TerminalClient(Path(settings.VAR_DIR) / "client", who["consultant"], log)
        terminal.start(children)
    else:
        log("• without desk-cli: requirements-client.txt is not installed (./desk client does)")
    connection.close()
    children.start("worker", worker_command())
    log(f"• engagement {engagement.code} with {engagement.models.count()} models, "
        f"node {node} enrolled")
    return Scenario(SAMPLE, engagement, node, who, log=log, out=out,
                    tend=children.restart_ended, terminal=terminal)
