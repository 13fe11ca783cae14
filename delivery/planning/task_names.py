"""A task's name as plain data, so that each reader gets it in his language."""

from delivery.planning.models import Task
from engagements.stages import Stage


def name_facts(task: Task) -> dict[str, str]:
    """Model code, stage and title; title wins over the stage."""
    return {"model": task.model.code if task.model else "", "stage": task.stage,
            "title": task.title}


def name_of(facts: dict[str, str]) -> str:
    """The name in the active language, as `str(task)` gives it."""
    title = facts["title"] or str(Stage(facts["stage"]).label)
    return f"{facts['model']} · {title}" if facts["model"] else title
