"""Plays the engagements of a first start one after the other, and goes on after a restart."""

from collections.abc import Callable

from django.core.cache import cache
from django.db import DatabaseError
from django.utils.translation import override

from delivery.demo.practice_engagements import ENGAGEMENTS, PracticeEngagement
from delivery.demo.practice_setup import crew_of, load_people, set_up
from delivery.demo.sample_engagement import NODE_NAME
from delivery.demo.scenario import Scenario
from delivery.demo.step_memory import (
    PROGRESS_KEY,
    PracticeRemoved,
    StepMemory,
    begin_practice,
    require_practice,
    show_progress,
)
from engagements.errors import DeskError
from engagements.models import User
from workers.models import Node

PARTS = [(spec, step) for spec in ENGAGEMENTS for step in ("set_up", *spec.steps)]
FINISHED = "finished"


def is_played() -> bool:
    """Whether the scenario has come to its end on this database."""
    from delivery.demo.models import PracticeStep

    return PracticeStep.objects.filter(name__startswith=f"{FINISHED}.").exists()


def play(log: Callable[[str], None]) -> None:
    """All engagements of a first start. Ends quietly where the practice data is removed.

    Raises DeskError or TimeoutError at the first step that fails; the banner says it too.
    """
    begin_practice()
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
    load_people(StepMemory("people"), User.objects.get(username="admin"))
    node, done = Node.objects.get(name=NODE_NAME), 0
    for spec in ENGAGEMENTS:
        done = _play_engagement(spec, node, log, done)
    StepMemory(FINISHED).once("all", lambda: None)


def _play_engagement(spec: PracticeEngagement, node: Node, log: Callable[[str], None], done: int
                     ) -> int:
    def tell(step: str) -> None:
        log(f"• {spec.code} {step}")
        show_progress(done=done, total=len(PARTS), engagement=spec.code, step=step)

    tell("set_up")
    who = crew_of(spec)
    engagement = set_up(spec, StepMemory(spec.code), who)
    scenario = Scenario(engagement, node, who, log=log, quoted=spec.quoted,
                        tend=lambda: show_progress(done=done, total=len(PARTS),
                                                   engagement=spec.code, step=step))
    for step in spec.steps:
        done += 1
        tell(step)
        getattr(scenario, step)()
    return done + 1


def _is_removed() -> bool:
    try:
        require_practice()
    except PracticeRemoved:
        return True
    return False
