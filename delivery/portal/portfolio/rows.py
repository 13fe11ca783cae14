"""The rows of the portfolio; their figures cost the same queries for any number of them."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from django.db.models import Count, Exists, F, OuterRef, Q, Subquery
from django.utils import timezone

from assessments.models import CriteriaSet, Criterion, Outcome, Verdict, Waiver
from delivery.acceptance.models import Review
from delivery.planning.effort.margins import Effort, efforts_of, grade_costs
from delivery.planning.models import Risk
from delivery.portal.models import ChartFigure
from delivery.reports.models import Document
from engagements.models import Engagement, Membership, ModelProgress, Role, User
from engagements.search_index import holding
from engagements.stages import Stage
from engagements.text.text_joining import labelled

RUNNING = Engagement.State.ACTIVE


@dataclass
class PortfolioRow:
    """One engagement with its figures. Money in yuan without tax; days are person-days."""

    engagement: Engagement
    owner: str = ""
    stages_passed: int = 0
    stages_in_scope: int = 0
    next_gate: str = ""
    next_gate_models: int = 0
    effort: Effort = field(default_factory=Effort)
    margin: dict = field(default_factory=dict)
    open_risks: int = 0
    failing_criteria: int = 0
    outcome: Review | None = None  # the acceptance that the customer concluded last

    @property
    def days_late(self) -> int:
        return self.engagement.days_late

    @property
    def outcome_label(self) -> str:
        return labelled(self.outcome.get_phase_display(), self.outcome.get_decision_display()
                        ) if self.outcome else ""

    @property
    def is_over_budget(self) -> bool:
        """More person-days used than quoted; where nothing was quoted, than planned."""
        budget = self.effort.days_quoted or self.effort.days_planned
        return bool(budget) and self.effort.days_used > budget

    @property
    def percent_passed(self) -> int:
        return 100 * self.stages_passed // self.stages_in_scope if self.stages_in_scope else 0


@dataclass
class Progress:
    """Stages passed and in scope; the earliest stage that is not done, and its open models."""

    passed: int = 0
    in_scope: int = 0
    stage: Stage | None = None
    models: int = 0

    def add(self, row: ModelProgress) -> None:
        self.passed += row.passed
        self.in_scope += row.in_scope
        if not row.stage:
            return
        stage, order = Stage(row.stage), Stage.values
        if self.stage is None or order.index(stage) < order.index(self.stage):
            self.stage, self.models = stage, 0
        self.models += stage == self.stage


def rows_of(engagements: Iterable[Engagement], *, with_money: bool) -> list[PortfolioRow]:
    """The rows in the order of the engagements.

    Args:
        with_money: whether margins are computed; they are for managers.
    """
    found = list(engagements)
    keys = [engagement.pk for engagement in found]
    owners, progress = _owners(keys), _progress(keys)
    risks = dict(Risk.objects.filter(engagement__in=keys).exclude(
        state=Risk.State.CLOSED).order_by().values_list("engagement").annotate(Count("pk")))
    failing, efforts = failing_counts(keys), efforts_of(keys)
    outcomes = _outcomes(keys)
    costs = grade_costs() if with_money else {}
    rows = []
    for engagement in found:
        stands, effort = progress[engagement.pk], efforts[engagement.pk]
        rows.append(PortfolioRow(
            engagement, owners.get(engagement.pk, ""), stands.passed, stands.in_scope,
            str(stands.stage.label) if stands.stage else "", stands.models, effort,
            effort.margin(costs, is_over=engagement.has_ended) if with_money else {},
            risks.get(engagement.pk, 0),
            failing.get(engagement.pk, 0), outcomes.get(engagement.pk)))
    return rows


def _owners(keys: Collection[int]) -> dict[int, str]:
    """The project manager who was on the team first."""
    found: dict[int, str] = {}
    for membership in Membership.objects.filter(
            engagement__in=keys, role=Role.MANAGER).select_related("user").only(
            "engagement", "user__username", "user__full_name",
            "user__full_name_en").order_by("-pk"):
        found[membership.engagement_id] = str(membership.user)
    return found


def _outcomes(keys: Collection[int]) -> dict[int, Review]:
    """The newest decision of each that is signed, or holds by the contract, on a document in
    force."""
    concluded = Q(document__state=Document.State.SIGNED) | Q(
        document__state=Document.State.ISSUED, decision=Review.Decision.DEEMED)
    return {review.document.engagement_id: review for review in Review.objects.filter(
        concluded, document__engagement__in=keys).exclude(decision="").select_related(
        "document").only("phase", "decision", "document__engagement").order_by("decided_at", "pk")}


def _progress(keys: Collection[int]) -> dict[int, Progress]:
    """From the summaries of the models: stages passed and in scope, and the earliest stage that is
    not done with the number of models that are before its gate."""
    found: dict[int, Progress] = defaultdict(Progress)
    for row in ModelProgress.objects.filter(engagement__in=keys, is_dropped=False).only(
            "engagement", "passed", "in_scope", "stage"):
        found[row.engagement_id].add(row)
    return found


def failing_counts(keys: Collection[int]) -> dict[int, int]:
    """Criteria of the signed sets whose newest verdict is a failure that no waiver covers."""
    newest = Verdict.objects.filter(criterion=OuterRef("pk")).order_by("-pk")
    waived = Waiver.objects.in_force(timezone.localdate()).filter(criterion=OuterRef("pk"))
    rows = Criterion.objects.filter(
        criteria_set__engagement__in=keys, criteria_set__state=CriteriaSet.State.SIGNED).annotate(
        outcome=Subquery(newest.values("outcome")[:1])).filter(
        ~Exists(waived), outcome=Outcome.FAILED).order_by().values_list("criteria_set__engagement")
    found: dict[int, int] = defaultdict(int)
    for (key,) in rows:
        found[key] += 1
    return found


def portfolio_engagements(user: User, params) -> "Iterable[Engagement]":
    """Visible engagements, filtered and sorted as asked.

    Args:
        params: q, state, owner (username), mine, stage (the next gate), late, sort (a column's key,
            with `-` for descending). What is unknown is ignored.
    """
    found = Engagement.objects.visible_to(user).select_related("customer")
    if text := params.get("q", "").strip():
        found = found.filter(pk__in=holding(Engagement, text, user))
    if params.get("state") in Engagement.State.values:
        found = found.filter(state=params["state"])
    if params.get("owner"):
        found = found.filter(pk__in=Membership.objects.filter(
            role=Role.MANAGER, user__username=params["owner"]).values("engagement"))
    if params.get("mine"):
        found = found.filter(pk__in=user.memberships.filter(
            role=Role.MANAGER).values("engagement"))
    if params.get("late"):
        found = found.filter(state=RUNNING, ends_on__lt=timezone.localdate())
    if params.get("stage") in Stage.values:
        found = in_stage(found, params["stage"])
    return _sorted(found, params.get("sort", ""))


def in_stage(engagements, stage: str):
    """Those that are under way and whose earliest open stage it is."""
    return engagements.filter(chart_figures__chart=ChartFigure.Chart.PIPELINE,
                              chart_figures__bar=stage)


SORTS = {"code": "code", "name": "name", "customer": "customer__name", "ends_on": "ends_on",
         "state": "state", "created_at": "created_at"}


def _sorted(engagements, asked: str):
    column = SORTS.get(asked.removeprefix("-"))
    if not column:
        return engagements.order_by("-created_at", "code")
    if column != "ends_on":
        return engagements.order_by(f"-{column}" if asked.startswith("-") else column, "code")
    order = F(column).desc(nulls_last=True) if asked.startswith("-") else F(column).asc(
        nulls_last=True)
    return engagements.order_by(order, "code")
