"""Whether anything was done in a stage: what keeps its start from being undone.

This app knows its checklist; higher apps add the rows of theirs.
"""

from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Exists, QuerySet

# Rows that were made in a stage, of OuterRef("pk"), OuterRef("model") and OuterRef("stage").
ActivitySource = Callable[[], QuerySet]
_sources: dict[str, ActivitySource] = {}


def register_stage_activity(code: str) -> Callable[[ActivitySource], ActivitySource]:
    """Decorator: add a source of activity under a unique code."""

    def add(source: ActivitySource) -> ActivitySource:
        _sources[code] = source
        return source

    return add


def with_activity(records: QuerySet) -> QuerySet:
    """Adds `has_activity` to each stage record."""
    return records.annotate(has_activity=reduce(or_, (
        Exists(source()) for source in _sources.values())))


def has_activity(record: Any) -> bool:
    """Whether anything was done in the stage, read now unless `with_activity` read it."""
    if hasattr(record, "has_activity"):
        return record.has_activity
    return with_activity(type(record)._base_manager.filter(pk=record.pk)).get().has_activity
