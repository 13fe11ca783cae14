"""Steps of the scenario that are done once, whatever stops and starts in between."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from django.core.cache import cache
from django.db import transaction

from delivery.demo.models import PracticeStep

PROGRESS_KEY = "practice.progress"
PROGRESS_SECONDS = 180  # a scenario that says nothing for so long is not running
BEGUN = "begun"


class PracticeRemoved(Exception):  # not a fault: somebody removed the practice data
    """The practice data was removed while the scenario ran."""


class StepMemory:
    """Remembers what was done for one engagement, by the name of the step.

    A step and the note that it is done are one transaction: after a crash it is either done and
    known, or neither.
    """

    def __init__(self, engagement_code: str) -> None:
        self.prefix = engagement_code
        self.done = dict(PracticeStep.objects.filter(
            name__startswith=f"{engagement_code}.").values_list("name", "result"))
        self.calls: Counter[str] = Counter()

    def once(self, name: str, do: Callable[[], Any]) -> Any:
        """What `do` returned (JSON-able), now or when it was done.

        A name used again in the same order of steps is another step. Raises PracticeRemoved once
        the data is gone.
        """
        self.calls[name] += 1
        key = f"{self.prefix}.{name}.{self.calls[name]}"
        if key not in self.done:
            with transaction.atomic():
                require_practice()
                self.done[key] = do()
                PracticeStep.objects.create(name=key, result=self.done[key])
        return self.done[key]


def begin_practice() -> None:
    """Note that the scenario is played on this database. Safe to repeat."""
    PracticeStep.objects.get_or_create(name=BEGUN)


def require_practice() -> None:
    """Raise PracticeRemoved if the practice data was removed."""
    if not PracticeStep.objects.filter(name=BEGUN).exists():
        raise PracticeRemoved


def show_progress(*, done: int, total: int, engagement: str = "", step: str = "",
                  trouble: str = "") -> None:
    """What the banner shows: parts done of all, and which one runs or why none does."""
    cache.set(PROGRESS_KEY, {"done": done, "total": total, "engagement": engagement,
                             "step": step, "trouble": trouble}, PROGRESS_SECONDS)


def progress() -> dict | None:
    """The banner's facts; None where no scenario runs."""
    return cache.get(PROGRESS_KEY)
