"""The board: models × stages over all engagements, how long they wait, and for whom."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Count, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.utils import timezone

from delivery.planning.models import ProjectIssue, Task
from engagements.model_progress import AGEING
from engagements.models import (
    Membership,
    MigratedModel,
    ModelProgress,
    Role,
    StageRecord,
    StageTransition,
    User,
)
from engagements.search_index import holding
from engagements.stages import DONE, StageState
from engagements.web.paging import MOST_COUNTED

LONG_DAYS = 7  # from here on an open stage is marked


@dataclass
class Row:
    """A model: its cells, the stage it stands in, since when, and who is waited for."""

    model: MigratedModel
    cells: list[dict]
    current: StageRecord | None
    age: int | None
    waits_for: list[str] = field(default_factory=list)
    issues: list[ProjectIssue] = field(default_factory=list)
    blocks: str = ""  # the stage behind, with its owner

    @property
    def is_blocked(self) -> bool:
        """Submitted, sent back, or with a blocking issue."""
        return bool(self.issues) or (self.current is not None and self.current.state in (
            StageState.SUBMITTED, StageState.SENT_BACK))

    @property
    def is_old(self) -> bool:
        return self.age is not None and self.age >= LONG_DAYS


@dataclass(frozen=True)
class Tallies:
    """How many models there are, at most MOST_COUNTED + 1, and of these how many are blocked and
    how many wait for LONG_DAYS or longer."""

    models: int
    blocked: int
    old: int

    @property
    def more(self) -> str:
        """Behind a count of models that are not all."""
        return "+" if self.models > MOST_COUNTED else ""


def matching(user: User, params, now: datetime | None = None) -> QuerySet:
    """Visible models of active engagements that fit the filter, the longest waiting first.

    Args:
        params: q (text), engagement (code), stage and state (of the current stage),
            days (at least that old), blocked (any value).
    """
    found = ModelProgress.objects.visible_to(user).under_way()
    for name, column in (("engagement", "engagement__code"), ("stage", "stage"),
                         ("state", "state")):
        if params.get(name):
            found = found.filter(**{column: params[name]})
    days = params.get("days", "")
    if days.isdecimal() and len(days) < 6:
        found = found.filter(_waiting_for(int(days), now or timezone.now()))
    if params.get("blocked"):
        found = found.filter(_blocked())
    if text := params.get("q", "").strip():
        found = found.filter(pk__in=holding(MigratedModel, text, user))
    return found.order_by("open_since", "pk")


def tallies_of(found: QuerySet, now: datetime) -> Tallies:
    """Counted in one walk over these models."""
    return Tallies(**found.order_by()[:MOST_COUNTED + 1].aggregate(
        models=Count("pk"), blocked=Count("pk", filter=_blocked()),
        old=Count("pk", filter=_waiting_for(LONG_DAYS, now))))


def _waiting_for(days: int, now: datetime) -> Q:
    """Whose open stage moved last so many days ago, or earlier."""
    return Q(open_since__lte=now - timedelta(days=days))


def _blocked() -> Q:
    """With a stage that is submitted or sent back, or with a blocking issue."""
    issues = ProjectIssue.objects.filter(
        closed_on=None, level=ProjectIssue.Level.BLOCKING).exclude(model=None)
    return ~Q(record=None) & (Q(state__in=[StageState.SUBMITTED, StageState.SENT_BACK])
                              | Q(model__in=issues.values("model")))


def rows_of(found: Iterable[ModelProgress], now: datetime | None = None) -> list[Row]:
    """The rows of these summaries, in their order; as many queries for many as for one."""
    now, order = now or timezone.now(), [progress.pk for progress in found]
    newest = StageTransition.objects.filter(record=OuterRef("pk")).order_by("-at", "-pk")
    records = StageRecord.objects.order_by("position").annotate(
        moved_at=Subquery(newest.values("at")[:1]),
        moved_by=Subquery(newest.values("actor_id")[:1]))
    models = MigratedModel.objects.select_related("engagement__customer").prefetch_related(
        Prefetch("stages", queryset=records, to_attr="board_records")).in_bulk(order)
    facts = _Facts(list(models.values()))
    return [_row(models[key], facts, now) for key in order]


class _Facts:
    """People, issues and plans of all models, each fetched once."""

    def __init__(self, models: list[MigratedModel]):
        engagements = {model.engagement_id for model in models}
        self.managers = defaultdict(list)
        for member in Membership.objects.filter(
                engagement__in=engagements, role=Role.MANAGER).select_related("user"):
            self.managers[member.engagement_id].append(str(member.user))
        movers = {r.moved_by for m in models for r in m.board_records if r.moved_by}
        self.people = {user.pk: str(user) for user in User.objects.filter(pk__in=movers)}
        self.issues = defaultdict(list)
        for issue in ProjectIssue.objects.filter(
                engagement__in=engagements, closed_on=None, level=ProjectIssue.Level.BLOCKING
                ).select_related("owner"):
            self.issues[issue.model_id].append(issue)
        self.owners = {
            (task.model_id, task.stage): str(task.owner) for task in Task.objects.filter(
                plan__engagement__in=engagements, owner__isnull=False).select_related("owner")}


def _row(model: MigratedModel, facts: _Facts, now: datetime) -> Row:
    records = model.board_records
    current = next((r for r in records if r.state not in DONE), None)
    row = Row(model, [_cell(record, now) for record in records], current,
              _age(current, now) if current else None)
    if current:
        row.issues = facts.issues[model.pk]
        row.waits_for = _waits_for(current, facts, row.issues)
        row.blocks = _blocks(records, current, facts)
    return row


def _cell(record: StageRecord, now: datetime) -> dict:
    age = _age(record, now)
    return {"record": record, "age": age, "is_old": age is not None and age >= LONG_DAYS}


def _age(record: StageRecord, now: datetime) -> int | None:
    """Whole days since the last move of a stage that is open; None for the others."""
    since = record.moved_at or record.submitted_at or record.started_at
    if record.state not in AGEING or since is None:
        return None
    return max(0, (now - since).days)


def _waits_for(current: StageRecord, facts: _Facts, issues: list[ProjectIssue]) -> list[str]:
    """Who has the next move: owners of blocking issues, managers, or who works on the stage."""
    if issues:
        return sorted({str(issue.owner) for issue in issues})
    model = current.model_id
    if current.state == StageState.SUBMITTED:
        return facts.managers[current.model.engagement_id]
    owner = facts.owners.get((model, current.stage)) or facts.people.get(current.moved_by)
    return [owner] if owner else []


def _blocks(records: list[StageRecord], current: StageRecord, facts: _Facts) -> str:
    behind = next((r for r in records if r.position > current.position
                   and r.state != StageState.SKIPPED), None)
    if behind is None:
        return ""
    owner = facts.owners.get((current.model_id, behind.stage))
    return f"{behind.get_stage_display()} · {owner}" if owner else behind.get_stage_display()
