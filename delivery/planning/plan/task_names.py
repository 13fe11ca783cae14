"""A task's name as plain data, so that each reader gets it in his language."""

from django.db.models import QuerySet

from delivery.planning.models import Task
from engagements.models.engagement import localized
from engagements.stages import Stage
from engagements.text.text_joining import listed


def name_facts(task: Task) -> dict[str, str]:
    """Model code, stage and titles; a title wins over the stage."""
    return {"model": task.model.code if task.model else "", "stage": task.stage,
            "title": task.title, "title_en": task.title_en}


def name_of(facts: dict[str, str]) -> str:
    """The name in the active language, as `str(task)` gives it."""
    title = localized(facts["title"], facts["title_en"]) or str(Stage(facts["stage"]).label)
    return f"{facts['model']} · {title}" if facts["model"] else title


def named_tasks(tasks: QuerySet[Task]) -> list[tuple[int, str]]:
    """(id, name) of thousands of tasks, without a row of each task and model in memory."""
    stages = {"": "", **{stage.value: str(stage.label) for stage in Stage}}
    rows = tasks.values_list("pk", "model__code", "stage", "title", "title_en")
    named = ((pk, code, localized(title, title_en) or stages[stage])
             for pk, code, stage, title, title_en in rows)
    return [(pk, f"{code} · {name}" if code else name) for pk, code, name in named]


def shared_names(tasks: list[dict[str, str]]) -> list[str]:
    """Names in the active language, models that share a task on one line: "A, B · Design"."""
    models: dict[str, list[str]] = {}
    for task in tasks:
        models.setdefault(name_of({**task, "model": ""}), []).append(task["model"])
    return [f"{listed(filter(None, codes))} · {name}" if any(codes) else name
            for name, codes in models.items()]
