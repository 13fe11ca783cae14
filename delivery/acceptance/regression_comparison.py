"""What moved between the accepted runs of a model and their repeats."""

from dataclasses import dataclass

from assessments.models import Criterion, Measurement, Verdict
from assessments.performance.gains import BY_NAME, gain
from assessments.queries import current_criteria, verdicts_of
from assessments.verdicts.computation import judge_one
from assessments.verdicts.environments import of_run
from delivery.acceptance.models import RegressionJob, RegressionRun
from toolreaders.verdicts.verdict import Outcome

# Up to here a move is called none: runs of the same software differ by about as much, and how
# far those of this node do is not known of a single run.
SAME_PERCENT = 2


@dataclass(frozen=True)
class MovedFigure:
    """One measured figure of a repeated job beside the accepted run's; also of no criterion.

    `after` is None until the repeat has brought it; a curve has no value.
    """

    pair: RegressionJob
    before: Measurement
    after: Measurement | None

    @property
    def change(self) -> float | None:
        """Relative to the accepted value."""
        before, after = self.before.value, self.after.value if self.after else None
        return (after - before) / abs(before) if before and after is not None else None

    @property
    def change_percent(self) -> float | None:
        return None if self.change is None else 100 * self.change

    @property
    def direction(self) -> str:
        """`better`, `worse`, or `unchanged` within SAME_PERCENT; empty where none is known."""
        metric = BY_NAME.get(self.before.quantity.partition(":")[0])
        if self.change_percent is None or metric is None:
            return ""
        if abs(self.change_percent) <= SAME_PERCENT:
            return "unchanged"
        found = gain(metric, self.before.value, self.after.value)
        return "better" if found.is_better else "worse"


@dataclass(frozen=True)
class Moved(MovedFigure):
    """One criterion: the accepted verdict beside what the repeat alone would be judged."""

    criterion: Criterion
    accepted: Verdict
    outcome: Outcome | None

    @property
    def outcome_label(self) -> str:
        """What the figure of the repeat alone would be judged, in the active language."""
        return (Verdict(outcome=self.outcome.outcome).get_outcome_display()
                if self.outcome else "")

    @property
    def is_other(self) -> bool:
        """The verdict that the figure would get differs from the accepted one."""
        return self.outcome is not None and self.outcome.outcome != self.accepted.outcome

    @property
    def environment(self) -> list[tuple[str, str, str]]:
        """Item, before and after, of what differs between both nodes as far as it is known."""
        before, after = of_run(self.before), of_run(self.after)
        return [(name, before.get(name, ""), after.get(name, ""))
                for name in sorted(before.keys() | after.keys())
                if self.after and before.get(name) != after.get(name)]


def pairs_of(run: RegressionRun) -> list[RegressionJob]:
    """Accepted and repeating jobs of a run, with what `repeating` needs."""
    return list(run.jobs.select_related("accepted", "repeated", "chain_run").prefetch_related(
        "chain_run__jobs__job"))


def moved_figures(run: RegressionRun) -> list[MovedFigure]:
    """Every single value that the accepted jobs measured, in order, with its repeat."""
    found = []
    for pair in pairs_of(run):
        repeating = pair.repeating
        after = {row.quantity: row for row in Measurement.objects.filter(
            job=repeating, value__isnull=False).order_by("pk")} if repeating else {}
        before = {row.quantity: row for row in Measurement.objects.filter(
            job=pair.accepted, value__isnull=False).order_by("pk")}
        found += [MovedFigure(pair, row, after.get(name)) for name, row in sorted(before.items())]
    return found


def moved(run: RegressionRun) -> list[Moved]:
    """Every criterion of the model whose accepted figure came from a repeated job."""
    pairs = {pair.accepted_id: pair for pair in pairs_of(run)}
    criteria = current_criteria(run.engagement)
    rows = verdicts_of(criteria, run.model) if criteria else []
    return [_moved(criterion, verdict, pairs[verdict.measurement.job_id])
            for criterion, verdict in rows
            if verdict and verdict.measurement and verdict.measurement.job_id in pairs]


def _moved(criterion: Criterion, verdict: Verdict, pair: RegressionJob) -> Moved:
    repeating = pair.repeating
    repeated = Measurement.objects.filter(
        job=repeating, quantity=criterion.quantity).select_related(
        "artifact", "job__node").order_by("pk").last() if repeating else None
    return Moved(pair, verdict.measurement, repeated, criterion, verdict,
                 judge_one(criterion, repeated) if repeated else None)
