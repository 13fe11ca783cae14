"""Keeps the figures that the portfolio's charts add up, and compares them with their rows.

Each part is declared once: its charts, the tables whose writes change it (with the path from their
rows to the engagement) and how its figures follow from the rows of some engagements.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from decimal import Decimal

from django.core.exceptions import ObjectDoesNotExist
from django.db import DEFAULT_DB_ALIAS, models, transaction
from django.db.models import Count, Max, Min, Q, Sum
from django.db.models.functions import TruncMonth
from django.utils import timezone

from assessments.models import Verdict
from delivery.agreement.models import Agreement
from delivery.agreement.queries import contracted
from delivery.planning.effort.margins import HALF_DAY
from delivery.planning.models import EffortEstimate, EffortLine, TimeEntry
from delivery.portal.models import ChartFigure
from delivery.quotes.models import Quote
from engagements.models import Engagement, MigratedModel, StageRecord
from engagements.stages import DONE, LET_THROUGH, Stage

BATCH = 200  # engagements
CENT = Decimal("0.01")
Chart = ChartFigure.Chart
Figure = tuple[str, int, str, Decimal]  # chart, engagement, bar, number
Figures = dict[tuple[str, int, str], Decimal]


@dataclass(frozen=True)
class Part:
    """Figures that are computed together."""

    charts: tuple[str, ...]
    tables: dict[type[models.Model], str]
    figures: Callable[[Collection[int]], Iterator[Figure]]


def _under_way(keys: Collection[int]) -> models.QuerySet:
    return Engagement.objects.filter(pk__in=keys, state=Engagement.State.ACTIVE).order_by()


def _pipeline(keys: Collection[int]) -> Iterator[Figure]:
    """Engagements under way at the earliest stage that is not done, and what it is worth."""
    positions = dict(StageRecord.objects.filter(
        model__engagement__in=_under_way(keys), model__dropped_at=None).exclude(
        state__in=DONE).order_by().values("model__engagement").annotate(
        first=Min("position")).values_list("model__engagement", "first"))
    for key, position in positions.items():
        yield Chart.PIPELINE, key, Stage.values[position], Decimal(1)
    for key, agreement in contracted(list(positions)).items():
        price = agreement.value("price")
        if price and price["yuan"]["net"]:
            yield Chart.VALUE, key, Stage.values[positions[key]], Decimal(price["yuan"]["net"])


def _planned(keys: Collection[int]) -> Iterator[Figure]:
    """Person-days of the estimate in force, by stage."""
    rows = EffortLine.objects.filter(
        estimate__state=EffortEstimate.State.APPROVED, estimate__engagement__in=_under_way(keys)
    ).order_by().values_list("estimate__engagement", "stage").annotate(Sum("likely"))
    return ((Chart.PLANNED, key, stage, days) for key, stage, days in rows)


def _used(keys: Collection[int]) -> Iterator[Figure]:
    """Person-days that count, by stage."""
    rows = TimeEntry.objects.counted().filter(engagement__in=_under_way(keys)).order_by(
        ).values_list("engagement", "stage").annotate(Count("pk"))
    return ((Chart.USED, key, stage, halves * HALF_DAY) for key, stage, halves in rows)


def _due(keys: Collection[int]) -> Iterator[Figure]:
    """Each engagement once, on the day of its agreed end, and whether it was accepted by then.

    It is accepted when its last model is. What is open, closed without acceptance or accepted later
    is due all the same; only what was closed with every model dropped is not. The agreed end is the
    one in force: a change request that moves it moves the engagement. A day becomes due without a
    write, so the bars are days, and the reader leaves out those to come.
    """
    current = {"models__dropped_at": None, "models__stages__stage": Stage.ACCEPT}
    rows = Engagement.objects.filter(pk__in=keys, ends_on__isnull=False).order_by().annotate(
        models_left=Count("models__stages", filter=Q(**current)),
        accepted=Count("models__stages", filter=Q(
            **current, models__stages__state__in=LET_THROUGH)),
        last=Max("models__stages__passed_at", filter=Q(**current))).exclude(
        state__in=Engagement.NEVER_DUE).exclude(
        state=Engagement.State.CLOSED, models_left=0).values_list(
        "pk", "ends_on", "models_left", "accepted", "last")
    for key, day, models_left, accepted, last in rows:
        yield Chart.DUE, key, f"{day}", Decimal(1)
        if 0 < models_left == accepted and timezone.localdate(last) <= day:
            yield Chart.IN_TIME, key, f"{day}", Decimal(1)


def _verdicts(keys: Collection[int]) -> Iterator[Figure]:
    """Computed verdicts by month and outcome."""
    path = "criterion__criteria_set__engagement"
    rows = Verdict.objects.filter(**{f"{path}__in": keys}).order_by().annotate(
        month=TruncMonth("computed_at")).values_list(path, "month", "outcome").annotate(Count("pk"))
    return ((Chart.VERDICTS, key, f"{month:%Y-%m} {outcome}", Decimal(number))
            for key, month, outcome, number in rows)


_ENGAGEMENT: dict[type[models.Model], str] = {Engagement: "pk"}
_STAGES = {**_ENGAGEMENT, MigratedModel: "engagement", StageRecord: "model__engagement"}
PARTS = (
    Part((Chart.PIPELINE, Chart.VALUE), {**_STAGES, Quote: "engagement",
                                         Agreement: "engagement"}, _pipeline),
    Part((Chart.PLANNED,), {**_ENGAGEMENT, EffortEstimate: "engagement",
                            EffortLine: "estimate__engagement"}, _planned),
    Part((Chart.USED,), {**_ENGAGEMENT, TimeEntry: "engagement"}, _used),
    Part((Chart.DUE, Chart.IN_TIME), _STAGES, _due),
    Part((Chart.VERDICTS,), {Verdict: "criterion__criteria_set__engagement"}, _verdicts),
)
TABLES = tuple(dict.fromkeys(table for part in PARTS for table in part.tables))
REMOVABLE = (TimeEntry, EffortLine)  # whose rows people remove


def refresh(part: Part, keys: Collection[int]) -> None:
    """Write a part's figures of these engagements anew; call it in the write's transaction."""
    right, stored = _right(part, keys), _stored(part, keys)
    changed = [ChartFigure(chart=chart, engagement_id=key, bar=bar, number=number)
               for (chart, key, bar), number in right.items()
               if stored.get((chart, key, bar), (0, None))[1] != number]
    ChartFigure.objects.bulk_create(
        changed, batch_size=500, update_conflicts=True,
        unique_fields=["engagement", "chart", "bar"], update_fields=["number"])
    if gone := [pk for place, (pk, _number) in stored.items() if place not in right]:
        ChartFigure.objects.filter(pk__in=gone).delete()


def rebuild() -> int:
    """Write all figures anew, in batches of their own transaction; of how many engagements."""
    count = 0
    for keys in _batches():
        with transaction.atomic():
            for part in PARTS:
                refresh(part, keys)
        count += len(keys)
    return count


def differences() -> Iterator[tuple[int, str, str]]:
    """Engagement, chart and bar of every stored figure that is not what its rows say."""
    for keys in _batches():
        for part in PARTS:
            right = _right(part, keys)
            stored = {place: number for place, (_pk, number) in _stored(part, keys).items()}
            for chart, key, bar in sorted(right.keys() | stored.keys()):
                if right.get((chart, key, bar)) != stored.get((chart, key, bar)):
                    yield key, chart, bar


def _right(part: Part, keys: Collection[int]) -> Figures:
    return {(chart, key, bar): number.quantize(CENT)
            for chart, key, bar, number in part.figures(keys)}


def _stored(part: Part, keys: Collection[int]) -> dict[tuple[str, int, str], tuple[int, Decimal]]:
    return {(row.chart, row.engagement_id, row.bar): (row.pk, row.number)
            for row in ChartFigure.objects.filter(chart__in=part.charts, engagement__in=keys)}


def _batches() -> Iterator[list[int]]:
    last, rows = 0, Engagement.objects.order_by("pk").values_list("pk", flat=True)
    while keys := list(rows.filter(pk__gt=last)[:BATCH]):
        yield keys
        last = keys[-1]


def prepare(using: str, plan: Collection = (), **_signal) -> None:
    """After `migrate`: the figures of a database that is older than they are, or than what they
    mean."""
    is_changed = any(migration.app_label == ChartFigure._meta.app_label and not is_backwards
                     for migration, is_backwards in plan)
    if using == DEFAULT_DB_ALIAS and (is_changed or not ChartFigure.objects.exists()):
        rebuild()


def rows_written(table: type[models.Model], keys: Collection) -> None:
    """Write the figures anew that are counted from rows with these keys, which were just
    written."""
    rows = models.QuerySet(table).filter(pk__in=keys).order_by()
    for part in PARTS:
        path = part.tables.get(table)
        engagements = set(rows.values_list(path, flat=True)) if path else None
        if engagements:
            refresh(part, engagements)


def row_removed(sender: type[models.Model], instance: models.Model, **_signal) -> None:
    """The same for a row that was removed."""
    for part in PARTS:
        if path := part.tables.get(sender):
            try:
                *steps, last = path.split("__")
                for step in steps:
                    instance = getattr(instance, step)
                refresh(part, [getattr(instance, f"{last}_id")])
            except ObjectDoesNotExist:
                return
