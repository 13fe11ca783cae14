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


def shared_names(tasks: list[dict[str, str]]) -> list[str]:
    """Names in the active language, models that share a task on one line: "A, B · Design"."""
    models: dict[str, list[str]] = {}
    for task in tasks:
        models.setdefault(name_of({**task, "model": ""}), []).append(task["model"])
    return [f"{', '.join(filter(None, codes))} · {name}" if any(codes) else name
            for name, codes in models.items()]
