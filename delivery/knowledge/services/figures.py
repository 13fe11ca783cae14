"""Keeps the library of measured figures up: per model what was last measured, over engagements
the range. The tables can be made anew at any time: `manage.py measured_figures --rebuild`."""

import math
from collections.abc import Iterator
from statistics import median
from typing import Any

from django.db import transaction
from django.db.models import Max, Q, QuerySet

from assessments.models import Baseline, Measurement, MetricDefinition, Verdict
from assessments.queries import counted, latest_verdicts, of_target
from assessments.verdicts.environments import of_run
from delivery.knowledge.families import (
    chip_of,
    family_of,
    framework_of,
    size_of,
    strategy_of,
    version_of,
)
from delivery.knowledge.models import FigureRange, FiguresRead, ModelFigure
from delivery.knowledge.models.measured_figure import CURVE_ERROR, EFFORT
from delivery.planning.models import TimeEntry
from engagements.models import AuditEntry, MigratedModel
from engagements.stages import DONE, StageState
from toolreaders.verdicts.quantity_rows import row_of
from workers.models import Job, JobState

HALF_DAY = 0.5
# Actions after which a model may have ended or go on, or a run is one of the source platform.
MOVES = ("stage.pass", "stage.waive", "stage.reopen", "stage.send_back", "stage.skip",
         "stage.restore", "model.drop", "model.update", "model.scope", "baseline.run")
AT_ONCE = 200  # models of one transaction


def refresh_changed() -> int:
    """Read what was measured, judged and worked since the last time; how many models changed.

    In batches: the first call after an upgrade reads all models. Cut off, the next one begins
    where this one began.
    """
    newest = {"measurement": _newest(Measurement), "verdict": _newest(Verdict),
              "baseline": _newest(Baseline), "time_entry": _newest(TimeEntry),
              "audit_entry": _newest(AuditEntry)}
    with transaction.atomic():
        changed = sorted(_changed_since(_locked_marks()))
    for first in range(0, len(changed), AT_ONCE):
        with transaction.atomic():
            _locked_marks()
            _refresh(MigratedModel.objects.filter(pk__in=changed[first:first + AT_ONCE]))
    with transaction.atomic():
        read = _locked_marks()
        for name, key in newest.items():
            setattr(read, name, max(key, getattr(read, name)))
        read.save()
    return len(changed)


def rebuild() -> int:
    """Make the whole library anew, in batches; how many models were read."""
    with transaction.atomic():
        _locked_marks()
        FigureRange.objects.all().delete()
        ModelFigure.objects.all().delete()
    count, last = 0, 0
    while models := list(MigratedModel.objects.filter(pk__gt=last).order_by("pk").values_list(
            "pk", flat=True)[:AT_ONCE]):
        with transaction.atomic():
            _locked_marks()
            _refresh(MigratedModel.objects.filter(pk__in=models))
        last, count = models[-1], count + len(models)
    return count


def _refresh(models: QuerySet) -> None:
    for model in models.order_by("pk").select_related("engagement"):
        refresh_model(model)


@transaction.atomic
def refresh_model(model: MigratedModel) -> None:
    """Write a model's figures anew, and the ranges that they belong or belonged to."""
    rows = list(_figures_of(model)) if model.dropped_at is None and family_of(model) else []
    before = list(ModelFigure.objects.filter(model=model))
    ModelFigure.objects.filter(model=model).delete()
    ModelFigure.objects.bulk_create(rows)
    for key in {tuple(row.key.items()) for row in (*before, *rows)}:
        _refresh_range(dict(key))


def _refresh_range(key: dict[str, Any]) -> None:
    found = list(ModelFigure.objects.filter(**key).values_list("value", "engagement"))
    if not found:
        FigureRange.objects.filter(**key).delete()
        return
    values = [value for value, _engagement in found]
    FigureRange.objects.update_or_create(**key, defaults={
        "engagements": len({engagement for _value, engagement in found}),
        "samples": len(found), "minimum": min(values), "median": median(values),
        "maximum": max(values)})


def _figures_of(model: MigratedModel) -> Iterator[ModelFigure]:
    """The last figure of each key; of several runs with the same software the newest counts."""
    found: dict[tuple, ModelFigure] = {}
    for row in (*_baselines(model), *_measured(model), *_curve_errors(model)):
        found[tuple(row.key.values())] = row
    yield from found.values()
    yield from _effort(model, list(found.values()))


def _figure(model: MigratedModel, quantity: str, value: float, unit: str, *, is_practice: bool,
            environment: dict[str, Any], strategy: str) -> ModelFigure:
    return ModelFigure(
        engagement=model.engagement, model=model, family=family_of(model), size=size_of(model),
        quantity=quantity[:60], unit=unit, value=value, is_practice=is_practice,
        chip=chip_of(environment.get("chip")), cann=version_of(environment.get("cann")),
        framework=framework_of(environment)[:48], strategy=strategy[:48])


def _measured(model: MigratedModel) -> Iterator[ModelFigure]:
    """Speed and memory of successful runs on the target platform, the oldest first."""
    rows = counted(of_target(Measurement.objects.filter(model=model, value__isnull=False))).filter(
        Q(job=None, verdicts__isnull=False) | Q(job__state=JobState.SUCCEEDED)).select_related(
        "job__node").order_by("pk").distinct()
    for row in rows:
        if _is_learnable(row.quantity, row.value):
            yield _figure(model, row.quantity, row.value, row.unit, is_practice=row.is_practice,
                          environment=of_run(row), strategy=_strategy(row.job))


def _strategy(job: Job | None) -> str:
    return strategy_of(job.cards_total, job.parameters) if job else ""


def _is_learnable(quantity: str, value: float) -> bool:
    row = row_of(quantity)
    return bool(row and row.is_collected) and math.isfinite(value) and value > 0


def _baselines(model: MigratedModel) -> Iterator[ModelFigure]:
    """What the source platform reaches; a published figure is nobody's measurement."""
    rows = model.baselines.filter(value__isnull=False).exclude(
        origin=Baseline.Origin.PUBLISHED).select_related("artifact").order_by("pk")
    for row in rows:
        if _is_learnable(row.quantity, float(row.value)):
            facts = {str(name).strip().lower(): value for name, value in row.environment.items()}
            cards = str(facts.get("cards") or "")
            yield _figure(model, row.quantity, float(row.value), row.unit,
                          is_practice=bool(row.artifact and row.artifact.is_practice),
                          environment=facts,
                          strategy=strategy_of(int(cards) if cards.isdigit() else 0, facts))


def _curve_errors(model: MigratedModel) -> Iterator[ModelFigure]:
    """Mean relative error of the loss curve, as the newest verdict of each criterion has it."""
    for criterion, verdict in latest_verdicts(model.engagement, model):
        if (criterion.definition.calculator == MetricDefinition.Calculator.LOSS_CURVE
                and criterion.definition.figure == "mean_relative_error" and verdict
                and verdict.measurement and verdict.figure is not None):
            yield _figure(model, CURVE_ERROR, verdict.figure, "%",
                          is_practice=verdict.is_practice,
                          environment=of_run(verdict.measurement),
                          strategy=_strategy(verdict.measurement.job))


def _effort(model: MigratedModel, figures: list[ModelFigure]) -> Iterator[ModelFigure]:
    """Person-days recorded with a model whose stages have all ended, with the software of its
    last run."""
    states = list(model.stages.values_list("state", flat=True))
    is_finished = StageState.PASSED in states and all(state in DONE for state in states)
    halves = TimeEntry.objects.counted().filter(model=model).count() if is_finished else 0
    if halves:
        last = next((row for row in reversed(figures) if row.cann), None)
        row = ModelFigure(engagement=model.engagement, model=model, family=family_of(model),
                          size=size_of(model), quantity=EFFORT, unit="", value=halves * HALF_DAY,
                          is_practice=model.engagement.has_practice_data)
        for name in ("chip", "cann", "framework", "strategy"):
            setattr(row, name, getattr(last, name) if last else "")
        yield row


def _locked_marks() -> FiguresRead:
    """One worker at a time writes the library."""
    FiguresRead.objects.get_or_create(pk=1)
    return FiguresRead.objects.select_for_update(of=("self",), no_key=True).get(pk=1)


def _newest(table) -> int:
    return table._base_manager.aggregate(newest=Max("pk"))["newest"] or 0


def _changed_since(read: FiguresRead) -> set[int]:
    """Keys of the models that something new is known of."""
    ids: set[int] = set()
    for table, path, mark in (
            (Measurement, "model", read.measurement), (Verdict, "criterion__model", read.verdict),
            (Baseline, "model", read.baseline), (TimeEntry, "model", read.time_entry)):
        ids |= set(table._base_manager.filter(pk__gt=mark).order_by().values_list(
            path, flat=True).distinct())
    moved = AuditEntry.objects.filter(pk__gt=read.audit_entry, action__in=MOVES).order_by(
        ).values("engagement").distinct()
    ids |= set(MigratedModel.objects.filter(engagement__in=moved).values_list("pk", flat=True))
    return ids - {None}
