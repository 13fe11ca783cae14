"""The effort estimate as a change of scope would leave it, and the person-days in between."""

from collections import defaultdict
from decimal import Decimal

from delivery.planning.changes.scope_effects import COMING, coming_lines, falls_out
from delivery.planning.effort.usage import current_estimate
from delivery.planning.estimation import Line, management_line
from delivery.planning.models import ChangeRequest, EffortLine, Grade, ScopeEffect, WorkItem
from engagements.models import MigratedModel

FIGURES = ("low", "likely", "high")


def effort_effect(change: ChangeRequest) -> dict:
    """Likely person-days more or less, in all and by grade; nothing where the scope stays.

    Only differences: the estimate itself is the firm's own.
    """
    if not change.scope_effects.exists():
        return {}
    days: dict[str, Decimal] = defaultdict(Decimal)
    for (_item, grade), more in days_between(change).items():
        days[grade] += more
    return {"days": f"{sum(days.values(), Decimal(0)):f}",
            "grades": [{"grade": grade, "days": f"{days[grade]:f}"} for grade in Grade.values
                       if days.get(grade)]}


def days_between(change: ChangeRequest) -> dict[tuple[str, str], Decimal]:
    """Likely person-days more or less by item and grade, project management included."""
    days: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for sign, lines in ((-1, _present(change)), (1, estimate_after(change))):
        for line in lines:
            days[str(line.item), str(line.grade)] += sign * line.likely
    return {key: more for key, more in days.items() if more}


def estimate_after(change: ChangeRequest) -> list[EffortLine]:
    """Unsaved lines of the estimate with what comes in and without what falls out.

    All other lines stay as they are, adjustments included; project management is a share of them.
    Lines of a model to be added hang on an unsaved model of its code.
    """
    effects = list(change.scope_effects.select_related("model"))
    present = _present(change)
    rest = [line for line in present if line.item != WorkItem.MANAGEMENT
            and not any(falls_out(line, effect) for effect in effects)]
    for effect in effects:
        rest = _with_coming(rest, effect)
    steering = [line for line in present if line.item == WorkItem.MANAGEMENT]
    return [*rest, *_managed(steering, present, rest)]


def _present(change: ChangeRequest) -> list[EffortLine]:
    estimate = current_estimate(change.engagement)
    return list(estimate.lines.select_related("model")) if estimate else []


def _with_coming(lines: list[EffortLine], effect: ScopeEffect) -> list[EffortLine]:
    """A stage that comes in replaces a line of the same model, item and grade."""
    if effect.action not in COMING:
        return lines
    model = effect.model or MigratedModel(code=effect.code, name=effect.name)
    coming = [effort_line(model, line) for line in coming_lines(effect)]
    keys = {(line.item, line.grade) for line in coming}
    return [*(line for line in lines if line.model_id is None or line.model_id != model.pk
              or (line.item, line.grade) not in keys), *coming]


def effort_line(model: MigratedModel | None, line: Line) -> EffortLine:
    """What the rules gave, as an unsaved line of an estimate."""
    return EffortLine(
        model=model, stage=line.stage, item=line.item, grade=line.grade,
        computed=[str(figure) for figure in line.days], basis=line.basis,
        **dict(zip(FIGURES, line.days, strict=True)))


def _managed(steering: list[EffortLine], before: list[EffortLine], after: list[EffortLine]
             ) -> list[EffortLine]:
    """Project management computed anew; one adjusted by hand grows or shrinks by its share."""
    if not after:
        return []
    new = effort_line(None, management_line(_plain(after)))
    if not steering:
        return [new]
    own, *others = steering
    if own.reason:
        old = management_line(_plain([row for row in before if row not in steering]))
        for n, figure in enumerate(FIGURES):
            more = getattr(new, figure) - old.days[n]
            setattr(new, figure, max(Decimal(0), getattr(own, figure) + more))
        new.low, new.likely, new.high = sorted(getattr(new, figure) for figure in FIGURES)
        new.reason = own.reason
    return [new, *others]


def _plain(lines: list[EffortLine]) -> list[Line]:
    return [Line(line.stage, line.item, line.grade, (line.low, line.likely, line.high), [])
            for line in lines]
