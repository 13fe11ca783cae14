"""The board: models × stages over all engagements, how long they wait, and for whom."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Max, OuterRef, Prefetch, Q, Subquery
from django.utils import timezone

from delivery.planning.models import ProjectIssue, Task
from engagements.models import (
    Engagement,
    Membership,
    MigratedModel,
    Role,
    StageRecord,
    StageTransition,
    User,
)
from engagements.stages import DONE, StageState

AGEING = (StageState.IN_PROGRESS, StageState.SUBMITTED, StageState.SENT_BACK)
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


def board(user: User, params, now: datetime | None = None) -> list[Row]:
    """Rows of visible models of active engagements, the longest waiting first.

    Args:
        params: q (text), engagement (code), stage and state (of the current stage),
            days (at least that old), blocked (any value).
    The number of queries does not depend on the number of models.
    """
    now = now or timezone.now()
    models = list(_models(user, params))
    facts = _Facts(models)
    rows = [_row(model, facts, now) for model in models]
    rows = [row for row in rows if _fits(row, params)]
    return sorted(rows, key=lambda row: (-(row.age or -1), row.model.engagement.code,
                                         row.model.position))


def _models(user: User, params):
    newest = StageTransition.objects.filter(record=OuterRef("pk")).order_by("-at", "-pk")
    records = StageRecord.objects.order_by("position").annotate(
        moved_at=Max("transitions__at"), moved_by=Subquery(newest.values("actor_id")[:1]))
    models = MigratedModel.objects.visible_to(user).filter(
        engagement__state=Engagement.State.ACTIVE, dropped_at=None).select_related(
        "engagement__customer")
    text = params.get("q", "").strip()
    if text:
        models = models.filter(
            Q(code__icontains=text) | Q(name__icontains=text) | Q(name_en__icontains=text)
            | Q(engagement__name__icontains=text) | Q(engagement__code__icontains=text)
            | Q(engagement__customer__name__icontains=text))
    if params.get("engagement"):
        models = models.filter(engagement__code=params["engagement"])
    return models.prefetch_related(Prefetch("stages", queryset=records, to_attr="board_records"))


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


def _fits(row: Row, params) -> bool:
    days = params.get("days", "")
    is_number = days.isdecimal() and len(days) < 6
    return ((not params.get("stage")
             or (row.current is not None and row.current.stage == params["stage"]))
            and (not params.get("state")
                 or (row.current is not None and row.current.state == params["state"]))
            and (not is_number or (row.age is not None and row.age >= int(days)))
            and (not params.get("blocked") or row.is_blocked))
