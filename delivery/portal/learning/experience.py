"""Sums over the newest engagements that a person sees."""

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Avg, Count, F, Q, Sum

from delivery.planning.effort.margins import HALF_DAY, efforts_of
from delivery.planning.models import EffortLine, Grade, Risk, TimeEntry
from delivery.quotes.models import Quote, QuoteLine
from engagements.models import Engagement, MigratedModel, User
from engagements.models.engagement import localized
from engagements.stages import Stage

MOST = 100  # engagements that are looked at, the newest
RISKS, MODELS = 20, 50


def newest(user: User) -> list[int]:
    """Keys of the engagements that the figures are of."""
    return list(Engagement.objects.visible_to(user).order_by("-created_at", "code").values_list(
        "pk", flat=True)[:MOST])


@dataclass(frozen=True)
class CommonRisk:
    """Risks of one title: in how many engagements, how many occurred, their average score."""

    title: str
    engagements: int
    occurred: int
    score: Decimal


def commonest_risks(keys: list[int]) -> list[CommonRisk]:
    """Titles of risks by the number of engagements that name them; one query."""
    rows = Risk.objects.filter(engagement__in=keys).order_by().values("title", "title_en").annotate(
        engagements=Count("engagement", distinct=True),
        occurred=Count("pk", filter=Q(state=Risk.State.OCCURRED)),
        score=Avg(F("probability") * F("impact"))).order_by("-engagements", "-score", "title")
    return [CommonRisk(localized(row["title"], row["title_en"]), row["engagements"],
                       row["occurred"], round(Decimal(row["score"]), 1)) for row in rows[:RISKS]]


@dataclass
class Days:
    """Quoted, planned and used person-days of a grade or a stage."""

    label: str
    quoted: Decimal = Decimal(0)
    planned: Decimal = Decimal(0)
    used: Decimal = Decimal(0)


def with_total(rows: list[Days], label: str) -> list[Days]:
    """The rows and their sum."""
    return [*rows, Days(label, *(sum((getattr(row, name) for row in rows), Decimal(0))
                                 for name in ("quoted", "planned", "used")))]


def days_by_grade(keys: list[int]) -> list[Days]:
    """As each engagement's own page counts them, added up."""
    rows = {grade.value: Days(str(grade.label)) for grade in Grade}
    for effort in efforts_of(keys).values():
        for name in ("quoted", "planned", "used"):
            for grade, days in getattr(effort, name).items():
                row = rows.setdefault(grade, Days(grade))
                setattr(row, name, getattr(row, name) + days)
    return [row for row in rows.values() if row.quoted or row.planned or row.used]


def days_by_stage(keys: list[int]) -> list[Days]:
    """Quoted by the lines in person-days of the agreed or offered quotes, planned by the approved
    estimates, used by time; what names no stage stands last."""
    rows: dict[str, Days] = {stage.value: Days(str(stage.label)) for stage in Stage}
    agreed = Quote.objects.without_facts().agreed(keys)
    lines = QuoteLine.objects.filter(
        quote__in=[quote.pk for quotes in agreed.values() for quote in quotes], unit="person_day")
    found = {
        "quoted": lines.order_by().values_list("stage").annotate(
            days=Sum(F("quantity") * F("months"))),
        "planned": EffortLine.objects.filter(
            estimate__engagement__in=keys, estimate__state="approved").order_by().values_list(
            "stage").annotate(Sum("likely")),
        "used": [(stage, halves * HALF_DAY) for stage, halves in TimeEntry.objects.filter(
            engagement__in=keys).counted().order_by().values_list("stage").annotate(Count("pk"))]}
    for name, pairs in found.items():
        for stage, days in pairs:
            setattr(rows.setdefault(stage, Days("")), name, Decimal(days))
    return [row for row in rows.values() if row.quoted or row.planned or row.used]


@dataclass(frozen=True)
class SimilarModel:
    """A model of the task, with its planned and used person-days."""

    model: MigratedModel
    planned: Decimal
    used: Decimal


def similar_models(keys: list[int], task: str) -> list[SimilarModel]:
    """Models of the same task on which time was booked, the newest first; three queries."""
    models = list(MigratedModel.objects.filter(
        engagement__in=keys, task=task, time_entries__isnull=False).distinct().select_related(
        "engagement").order_by("-pk")[:MODELS])
    planned: dict[int, Decimal] = defaultdict(Decimal, EffortLine.objects.filter(
        model__in=models, estimate__state="approved").order_by().values_list("model").annotate(
        Sum("likely")))
    used: dict[int, int] = defaultdict(int, TimeEntry.objects.filter(
        model__in=models).counted().order_by().values_list("model").annotate(Count("pk")))
    return [SimilarModel(model, planned[model.pk], used[model.pk] * HALF_DAY) for model in models]


def tasks(keys: list[int]) -> list[str]:
    """The tasks of their models."""
    return sorted(MigratedModel.objects.filter(engagement__in=keys).exclude(task="").order_by(
        ).values_list("task", flat=True).distinct())
