"""New lengths of a plan's tasks where a stage is quoted more or fewer person-days.

The same people do them: a stage of twenty person-days that is planned for ten working days takes
twelve once it has twenty-four.
"""

from collections import defaultdict
from decimal import ROUND_CEILING, Decimal

from delivery.planning.models import ChangeRequest, Task
from delivery.planning.models.plan import LONGEST_TASK
from delivery.planning.plan.task_dates import tasks_with_stages
from delivery.quotes.margin import PERSON_DAY
from delivery.quotes.services.agreed_versions import Action


def lengths_by_days(change: ChangeRequest) -> dict[Task, int]:
    """Working days of the tasks that are not ended, by the change's effects on the price.

    Nothing where its scope changes: the tasks that come in and fall out bear these days.
    """
    plan = getattr(change.engagement, "plan", None)
    more = _days_by_stage(change.price_effects.select_related("line", "price"))
    if plan is None or not any(more.values()) or change.scope_effects.exists():
        return {}
    quoted: dict[str, Decimal] = defaultdict(Decimal)
    for line in change.quote.lines.filter(unit=PERSON_DAY):
        quoted[line.stage] += line.quantity
    growth = {stage: 1 + days / quoted[stage] for stage, days in more.items()
              if stage and days and quoted[stage]}
    lengths = {task: _scaled(task.days, growth[task.stage]) for task in tasks_with_stages(plan)
               if task.stage in growth and not task.ended_on}
    return {task: days for task, days in lengths.items() if days != task.days}


def _scaled(days: int, by: Decimal) -> int:
    return min(LONGEST_TASK, int((days * by).to_integral_value(ROUND_CEILING)))


def _days_by_stage(effects) -> dict[str, Decimal]:
    days: dict[str, Decimal] = defaultdict(Decimal)
    for effect in effects:
        if (effect.line or effect.price).unit == PERSON_DAY:
            before = effect.line.quantity if effect.line else 0
            after = 0 if effect.action == Action.REMOVE else effect.quantity
            days[(effect.line or effect.price).stage] += after - before
    return days
