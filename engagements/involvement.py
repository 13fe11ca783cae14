"""Who was involved in a stage's work, and may therefore not pass its gate (DOMAIN AR-11, 9.11).

This app knows who started and submitted; higher apps add what else counts as work.
"""

from collections.abc import Callable, Iterable

from django.db.models import OuterRef, QuerySet
from django.utils.translation import gettext as _

from engagements.models import ChecklistItem, StageRecord, User
from engagements.stage_activity import register_stage_activity
from engagements.stages import StageMove

# Of a stage and a user: sentences on what the user did there, none for nothing.
InvolvementSource = Callable[[StageRecord, User], Iterable[str]]
_sources: dict[str, InvolvementSource] = {}


def register_involvement(code: str) -> Callable[[InvolvementSource], InvolvementSource]:
    """Decorator: add a source of involvement under a unique code."""

    def add(source: InvolvementSource) -> InvolvementSource:
        _sources[code] = source
        return source

    return add


def involvement_in(record: StageRecord, user: User) -> list[str]:
    """What the user did for the stage; whoever did something may not let it through."""
    return [sentence for source in _sources.values() for sentence in source(record, user)]


@register_involvement("moves")
def moved_it(record: StageRecord, user: User) -> Iterable[str]:
    """Whoever submitted the stage, and did not withdraw that, answers for it."""
    if record.transitions.standing().filter(actor=user, move=StageMove.SUBMIT).exists():
        yield _("You submitted it.")


@register_stage_activity("checklist")
def ticked_items() -> QuerySet:
    """Items of the stage's checklist that are done."""
    return ChecklistItem.objects.filter(record=OuterRef("pk"), done_at__isnull=False)
