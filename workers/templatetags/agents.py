"""Where agents worked, on pages of the packages below."""

from django import template

from engagements.models import Agent, StageRecord
from workers.agent_work import agents_by_cell

register = template.Library()
register.simple_tag(agents_by_cell)


@register.filter
def at_cell(cells: dict[tuple[int, str], list[Agent]], record: StageRecord) -> list[Agent]:
    """Of `agents_by_cell` those of one stage of a model."""
    return cells.get((record.model_id, record.stage), [])
