"""What a change does to scope, schedule, price and criteria: plain data that both sides sign.

While it is a draft the facts are computed from what is in force; submitting freezes them.
"""

from decimal import Decimal

from assessments.models import CriteriaSet, Criterion, MetricDefinition
from delivery.planning.changes.effort_effects import effort_effect
from delivery.planning.changes.rescheduling import reschedule
from delivery.planning.changes.scope_effects import COMING, criteria_out, scope_facts, stages_of
from delivery.planning.models import AddedCriterion, ChangeRequest, Plan, ScopeAction
from delivery.planning.plan.task_dates import Scheduled, end_of, schedule_with, working_days_of
from delivery.planning.plan.task_names import name_facts
from delivery.quotes.services.agreed_versions import preview_version
from delivery.quotes.snapshot import facts_of
from delivery.quotes.version_comparison import compare_facts

WORDS = ("title", "category", "requested_by", "reason", "before", "after")
LINE = ("code", "name", "name_en", "stage", "grade", "unit", "quantity", "months", "unit_price",
        "net")


def change_facts(change: ChangeRequest) -> dict:
    """Words and effects before and after, as they would come into force now.

    Raises DeskError where an effect cannot come into force: a rule of the quote, a circle.
    """
    price, scope = _price(change), scope_facts(change)
    return {
        "code": change.code, **{name: getattr(change, name) for name in WORDS},
        "scope": {"text": change.effect_on_scope, "effects": scope, "added": price.get("added", []),
                  "removed": price.get("removed", [])},
        "effort": effort_effect(change),
        "schedule": {"text": change.effect_on_schedule, **_schedule(change, scope)},
        "price": {"text": change.effect_on_price, **price},
        "quality": {"text": change.effect_on_quality},
        "criteria": {"text": change.effect_on_criteria, **_criteria(change)},
        "measures": change.measures,
    }


def shown_facts(change: ChangeRequest) -> dict:
    """The frozen facts of a submitted change; of a draft its present ones."""
    return change.facts if change.content_hash else change_facts(change)


def _schedule(change: ChangeRequest, scope: list[dict]) -> dict:
    """The end of the contract where it moves; the end of the plan and every task whose dates move,
    that comes in or falls out."""
    contract = {"contract": [str(change.engagement.ends_on or ""), str(change.ends_on)]} if (
        change.ends_on) else {}
    effects = {effect.task_id: effect for effect in change.schedule_effects.all()}
    plan = Plan.objects.filter(engagement=change.engagement_id).first()
    if not (effects or scope) or plan is None:
        return contract
    drawn = reschedule(plan, change, scope) if scope else None
    before, after = schedule_with(
        plan, {pk: effect.days_after for pk, effect in effects.items()},
        *((drawn.tasks, drawn.links) if drawn else ()))
    old, new = ({row.task.pk: row for row in rows} for rows in (before, after))
    moved = [pk for pk in {**old, **new}
             if pk in effects or _span(old.get(pk)) != _span(new.get(pk))]
    return {**contract, "end": [str(end_of(before)), str(end_of(after))],
            "days": [working_days_of(before), working_days_of(after)],
            "tasks": [_moved(old.get(pk), new.get(pk), effects.get(pk)) for pk in moved]}


def _moved(old: Scheduled | None, new: Scheduled | None, effect) -> dict:
    """A task's days and dates before and after; none where it falls out or comes in."""
    days = [effect.days_before, effect.days_after] if effect else []
    if not (old and new):
        days = [row.task.days if row else 0 for row in (old, new)]
    return {"task": name_facts((new or old).task), "is_changed": bool(days), "days": days,
            "before": _dates(old), "after": _dates(new)}


def _span(row: Scheduled | None) -> tuple:
    return (row.start, row.finish) if row else ()


def _dates(row: Scheduled | None) -> list[str]:
    return [str(row.start), str(row.finish)] if row else []


def _price(change: ChangeRequest) -> dict:
    """Lines added, removed and changed, and the totals before and after."""
    effects = list(change.price_effects.select_related("line", "price__card"))
    if not effects or change.quote is None:
        return {}
    before = facts_of(change.quote)
    after = preview_version(
        change.quote, [effect.as_change() for effect in effects],
        coming=[stage for effect in change.scope_effects.select_related("model")
                if effect.action in COMING for stage in stages_of(effect)])
    found = compare_facts(before, after)
    return {
        "quote": str(change.quote), "symbol": before["symbol"], "currency": before["currency"],
        "added": [_line(line) for line in found.added],
        "removed": [_line(line) for line in found.removed],
        "changed": [{"before": _line(changed.before), "after": _line(changed.line)}
                    for changed in found.changed],
        "totals": {name: [before["totals"][name], after["totals"][name],
                          f"{Decimal(after['totals'][name]) - Decimal(before['totals'][name]):.2f}"]
                   for name in ("net", "tax", "gross")}}


def _line(line: dict) -> dict:
    return {name: line[name] for name in LINE}


def _criteria(change: ChangeRequest) -> dict:
    """Thresholds before and after, how many stay as they are, and who comes in without any."""
    effects = list(change.criterion_effects.select_related(
        "criterion__definition", "criterion__model", "criterion__criteria_set"))
    rows = [_criterion(effect.criterion, effect.after) for effect in effects]
    out = criteria_out(change)
    rows += [_criterion(criterion, "") for criterion in out]
    added = list(change.added_criteria.select_related("definition", "baseline__artifact",
                                                      "artifact"))
    coming = change.scope_effects.filter(action=ScopeAction.ADD_MODEL)
    without = sorted({row.code for row in coming} - {row.code for row in added})
    if not (rows or added or without):
        return {}
    signed = change.engagement.criteria_sets.filter(state=CriteriaSet.State.SIGNED).first()
    return {"version": signed.version if signed else 0,
            "unchanged": signed.criteria.count() - len(rows) if signed else 0,
            "rows": [*rows, *map(_added_criterion, added)], "without": without}


def _added_criterion(row: AddedCriterion) -> dict:
    """A criterion that comes in: before is empty; with the checksum of its reference."""
    file = row.artifact or (row.baseline and row.baseline.artifact)
    return {**_definition(row.definition), "model": row.code, "stage": row.stage, "before": "",
            "after": f"{row.threshold.normalize():f}", "reference": file.sha256 if file else ""}


def _criterion(criterion: Criterion, after: str) -> dict:
    """A threshold before and after; after is empty where the criterion falls out."""
    return {**_definition(criterion.definition), "model": criterion.model.code,
            "stage": criterion.stage, "before": f"{criterion.threshold.normalize():f}",
            "after": after}


def _definition(definition: MetricDefinition) -> dict:
    return {"definition": str(definition), "name": definition.name,
            "name_en": definition.name_en, "unit": definition.unit,
            "comparison": definition.comparison}
