"""What moved between the accepted runs of a model and their repeats."""

from dataclasses import dataclass

from assessments.models import Criterion, Measurement, Verdict
from assessments.queries import current_criteria, verdicts_of
from assessments.verdicts.computation import judge_one
from assessments.verdicts.environments import of_run
from assessments.verdicts.verdict import Outcome
from delivery.acceptance.models import RegressionJob, RegressionRun


@dataclass(frozen=True)
class Moved:
    """One criterion: the accepted verdict beside what the repeat measured.

    `repeated` and `outcome` are None until the repeat has brought its figure; `change` is
    relative to the accepted value and None for a curve.
    """

    criterion: Criterion
    accepted: Verdict
    pair: RegressionJob
    repeated: Measurement | None
    outcome: Outcome | None

    @property
    def change(self) -> float | None:
        before = self.accepted.measurement.value
        after = self.repeated.value if self.repeated else None
        return (after - before) / abs(before) if before and after is not None else None

    @property
    def change_percent(self) -> float | None:
        return None if self.change is None else 100 * self.change

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
        before, after = of_run(self.accepted.measurement), of_run(self.repeated)
        return [(name, before.get(name, ""), after.get(name, ""))
                for name in sorted(before.keys() | after.keys())
                if self.repeated and before.get(name) != after.get(name)]


def moved(run: RegressionRun) -> list[Moved]:
    """Every criterion of the model whose accepted figure came from a repeated job."""
    pairs = {pair.accepted_id: pair for pair in run.jobs.select_related("accepted", "repeated")}
    criteria = current_criteria(run.engagement)
    rows = verdicts_of(criteria, run.model) if criteria else []
    return [_moved(criterion, verdict, pairs[verdict.measurement.job_id])
            for criterion, verdict in rows
            if verdict and verdict.measurement and verdict.measurement.job_id in pairs]


def _moved(criterion: Criterion, verdict: Verdict, pair: RegressionJob) -> Moved:
    repeated = Measurement.objects.filter(
        job=pair.repeated, quantity=criterion.quantity).select_related(
        "artifact", "job__node").order_by("pk").last()
    return Moved(criterion, verdict, pair, repeated,
                 judge_one(criterion, repeated) if repeated else None)
