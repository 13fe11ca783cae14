"""What a model or stage that comes in or falls out means in person-days, plan and criteria."""

import math
from collections import defaultdict
from decimal import Decimal

from assessments.models import CriteriaSet, Criterion
from delivery.planning.effort import calibration
from delivery.planning.effort.model_facts import model_facts
from delivery.planning.effort.usage import current_estimate
from delivery.planning.estimation import Line, ModelFacts, model_lines
from delivery.planning.models import ChangeRequest, EffortLine, ScopeAction, ScopeEffect
from engagements.stages import OUT_OF_SCOPE, Stage

COMING = (ScopeAction.ADD_MODEL, ScopeAction.ADD_STAGE)


def scope_facts(change: ChangeRequest) -> list[dict]:
    """Each effect with the likely person-days that it adds or takes, in all and by stage."""
    return [_facts(effect) for effect in change.scope_effects.select_related("model")]


def stages_of(effect: ScopeEffect) -> list[str]:
    """The stages that come in or fall out, in their order."""
    if effect.stage:
        return [effect.stage]
    scope = effect.model.scope if effect.model else effect.scope
    return [stage for stage in Stage.values if stage not in OUT_OF_SCOPE[scope]]


def task_days(row: dict) -> dict[str, int]:
    """Working days of the task of each stage that comes in: whole days, at least one."""
    return {stage: max(1, math.ceil(Decimal(row["stage_days"].get(stage, "0"))))
            for stage in row["stages"]}


def criteria_out(change: ChangeRequest) -> list[Criterion]:
    """Signed criteria of what falls out."""
    effects = list(change.scope_effects.exclude(action__in=COMING))
    whole = {effect.model_id for effect in effects if not effect.stage}
    parts = {(effect.model_id, effect.stage) for effect in effects if effect.stage}
    rows = Criterion.objects.filter(
        criteria_set__engagement=change.engagement_id,
        criteria_set__state=CriteriaSet.State.SIGNED, model__in={e.model_id for e in effects}
        ).select_related("definition", "model", "criteria_set")
    return [row for row in rows if row.model_id in whole or (row.model_id, row.stage) in parts]


def _facts(effect: ScopeEffect) -> dict:
    model, days = effect.model or effect, defaultdict(Decimal)
    for stage, more in _stage_days(effect):
        days[stage] += more
    size = model.parameters_billion
    return {
        "effect": effect.pk, "action": effect.action, "model": model.code, "name": model.name,
        "name_en": model.name_en, "stage": effect.stage, "scope": model.scope,
        "parameters_billion": None if size is None else f"{size.normalize():f}",
        "stages": stages_of(effect), "days": f"{sum(days.values(), Decimal(0)):f}",
        "stage_days": {stage: f"{value:f}" for stage, value in days.items()}}


def _stage_days(effect: ScopeEffect) -> list[tuple[str, Decimal]]:
    """Likely days by stage; negative for what falls out."""
    if effect.action in COMING:
        return [(str(line.stage), line.days[1]) for line in coming_lines(effect)]
    estimate = current_estimate(effect.change.engagement)
    return [(line.stage, -line.likely) for line in (estimate.lines.all() if estimate else ())
            if falls_out(line, effect)]


def coming_lines(effect: ScopeEffect) -> list[Line]:
    """What the rules give for a model or a stage that comes in."""
    if effect.action == ScopeAction.ADD_MODEL:
        facts = ModelFacts(frozenset(stages_of(effect)), effect.parameters_billion)
    else:
        known = model_facts(effect.model)
        facts = ModelFacts(**{**vars(known), "stages": known.stages | {effect.stage}})
    return [line for line in model_lines(facts, calibration.history())
            if line.stage in stages_of(effect)]


def falls_out(line: EffortLine, effect: ScopeEffect) -> bool:
    """Whether the effect takes the estimate's line away."""
    return (effect.action not in COMING and line.model_id == effect.model_id
            and effect.stage in ("", line.stage))
