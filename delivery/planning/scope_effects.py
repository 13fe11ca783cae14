"""What a model or stage that comes in or falls out means in person-days, plan and criteria."""

import math
from collections import defaultdict
from decimal import Decimal

from assessments.models import CriteriaSet, Criterion
from delivery.planning import calibration
from delivery.planning.drivers import model_facts
from delivery.planning.estimating import Line, ModelFacts, model_lines
from delivery.planning.models import ChangeRequest, ScopeAction, ScopeEffect
from delivery.planning.usage import current_estimate
from engagements.stages import OUT_OF_SCOPE, Stage

COMING = (ScopeAction.ADD_MODEL, ScopeAction.ADD_STAGE)


def scope_facts(change: ChangeRequest) -> list[dict]:
    """Each effect with the likely person-days that it adds or takes, in all and by stage."""
    return [_facts(effect) for effect in change.scope_effects.select_related("model")]


def scope_lines(change: ChangeRequest) -> list[dict]:
    """The same by stage, item and grade: for the firm, as the estimate is."""
    return [line for effect in change.scope_effects.select_related("model")
            for line in _lines(effect)]


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
    for line in _lines(effect):
        days[line["stage"]] += Decimal(line["days"])
    size = model.parameters_billion
    return {
        "effect": effect.pk, "action": effect.action, "model": model.code, "name": model.name,
        "name_en": model.name_en, "stage": effect.stage, "scope": model.scope,
        "parameters_billion": None if size is None else f"{size.normalize():f}",
        "stages": stages_of(effect), "days": f"{sum(days.values(), Decimal(0)):f}",
        "stage_days": {stage: f"{value:f}" for stage, value in days.items()}}


def _lines(effect: ScopeEffect) -> list[dict]:
    """Days per stage, item and grade; negative for what falls out."""
    if effect.action not in COMING:
        return _estimated(effect)
    if effect.action == ScopeAction.ADD_MODEL:
        facts = ModelFacts(frozenset(stages_of(effect)), effect.parameters_billion)
    else:
        known = model_facts(effect.model)
        facts = ModelFacts(**{**vars(known), "stages": known.stages | {effect.stage}})
    return [_line(line) for line in model_lines(facts, calibration.history())
            if line.stage in stages_of(effect)]


def _estimated(effect: ScopeEffect) -> list[dict]:
    estimate = current_estimate(effect.change.engagement)
    rows = estimate.lines.filter(model=effect.model) if estimate else []
    return [{"stage": row.stage, "item": row.item, "grade": row.grade, "days": f"{-row.likely:f}"}
            for row in rows if not effect.stage or row.stage == effect.stage]


def _line(line: Line) -> dict:
    return {"stage": str(line.stage), "item": str(line.item), "grade": str(line.grade),
            "days": f"{line.days[1]:f}"}
