"""Queries that pages and API share."""

from collections.abc import Iterable

from django.db.models import Count, OuterRef, Prefetch, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils.translation import gettext as _

from engagements.models import (
    Customer,
    Engagement,
    ModelProgress,
    StageComment,
    StageRecord,
    User,
)
from engagements.search_index import holding
from engagements.stages import DONE, LET_THROUGH, Stage, StageState
from engagements.text.text_joining import labelled

MODELS_PER_PAGE = 40  # of the matrix


def with_progress(engagements: QuerySet) -> QuerySet:
    """Adds `stages_passed`, `stages_in_scope` and `model_count` to each engagement, from the
    summaries of its models; the newest first."""
    models = ModelProgress.objects.filter(engagement=OuterRef("pk"), is_dropped=False).order_by(
        ).values("engagement")
    ordered = engagements.select_related("customer").order_by("-created_at", "code")
    return ordered.annotate(**{
        name: Coalesce(Subquery(models.annotate(n=total).values("n")), 0)
        for name, total in (("model_count", Count("pk")), ("stages_in_scope", Sum("in_scope")),
                            ("stages_passed", Sum("passed")))})


def matrix(models: QuerySet) -> list[dict]:
    """Models with their eight stage records, who works on them and their newest comment.

    Each record has `is_early`: an earlier stage of its model has to pass before it is started.
    """
    return [{"model": model, "records": _with_turn(model.stages.all())}
            for model in models.prefetch_related("stages__assignment__person", Prefetch(
                "stages__comments", to_attr="newest_comments",
                queryset=StageComment.objects.newest_of_each().select_related("author", "agent")))]


def _with_turn(records: Iterable[StageRecord]) -> list[StageRecord]:
    ordered, is_early = list(records), False
    for record in ordered:
        record.is_early = is_early
        is_early = is_early or record.state not in DONE
    return ordered


def place_in_matrix(record: StageRecord) -> str:
    """The address of the stage's cell: of the page of the matrix that holds its model."""
    model = record.model
    before = record.engagement.models.filter(
        Q(position__lt=model.position) | Q(position=model.position, pk__lt=model.pk)).count()
    page = before // MODELS_PER_PAGE + 1
    place = reverse("engagements:engagement", args=[record.engagement.code])
    return f"{place}{f'?page={page}' if page > 1 else ''}#cell-{record.pk}"


def stage_summary(engagement: Engagement) -> list[dict]:
    """Per stage: how many models have it in scope, started it, were let through."""
    rows = {stage: {"stage": stage, "in_scope": 0, "passed": 0, "started": 0}
            for stage in Stage.values}
    for stage, state in StageRecord.objects.filter(
            model__engagement=engagement).values_list("stage", "state"):
        row = rows[stage]
        row["in_scope"] += state != StageState.SKIPPED
        row["passed"] += state in LET_THROUGH
        row["started"] += state not in (StageState.NOT_STARTED, StageState.SKIPPED)
    return list(rows.values())


def next_code(rows: QuerySet, prefix: str) -> str:
    """The prefix and the number behind the highest one in use, two digits at least: EP2603."""
    numbers = [code.removeprefix(prefix) for code in rows.filter(
        code__startswith=prefix).values_list("code", flat=True)]
    return f"{prefix}{max((int(n) for n in numbers if n.isdecimal()), default=0) + 1:02}"


def filtered(engagements: QuerySet, params) -> QuerySet:
    """The list's filter: text, scope and state."""
    text = params.get("q", "").strip()
    if text:
        engagements = engagements.filter(pk__in=holding(Engagement, text))
    for field in ("scope", "state"):
        if params.get(field):
            engagements = engagements.filter(**{field: params[field]})
    return engagements


def filtered_customers(customers: QuerySet, params) -> QuerySet:
    """The list's filter: text."""
    text = params.get("q", "").strip()
    if not text:
        return customers
    of_code = list(Engagement.objects.filter(code__in={text, text.upper()}).values_list(
        "customer", flat=True))
    return customers.filter(Q(pk__in=holding(Customer, text)) | Q(pk__in=of_code))


def filtered_people(people: QuerySet, params) -> QuerySet:
    """The list's filter: text and role; those who may sign in first."""
    text = params.get("q", "").strip()
    if text:
        people = people.filter(Q(username__icontains=text) | Q(full_name__icontains=text)
                               | Q(full_name_en__icontains=text)
                               | Q(organisation__icontains=text)
                               | Q(organisation_en__icontains=text))
    if params.get("role"):
        people = people.filter(role=params["role"])
    return people.order_by("-is_active", "role", "username")


def projects_of(person: User) -> list[str]:
    """A paragraph with the projects in whose team somebody of a customer is; of the firm's people
    none: what they work on stays inside."""
    rows = Engagement.objects.filter(memberships__user=person).order_by("code") if (
        person.is_reviewer) else ()
    return ["\n".join(labelled(_("Project"), f"{row.code} {row.localized_name}") for row in rows)
            ] if rows else []
