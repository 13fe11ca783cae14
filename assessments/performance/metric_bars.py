"""Per metric: baseline, before and after tuning, target; without rounds the first and newest
run."""

from dataclasses import dataclass

from django.utils.translation import gettext

from assessments.models import Baseline, Criterion, Measurement, MetricDefinition
from assessments.performance.gains import METRICS, Gain, Metric
from assessments.performance.rounds import History
from assessments.performance.token_rates import in_tokens
from assessments.queries import current_criteria, of_target
from engagements.models import MigratedModel
from toolreaders.verdicts.sentences import SIGNS

Calculator = MetricDefinition.Calculator


@dataclass(frozen=True)
class Bars:
    """Values of one metric; None where nothing is measured or agreed.

    `before` and `after` are the start and the last kept round of tuning, and `gain` what they show;
    where no two rounds measured the metric, the first and the newest run on the target, which show
    no gain: nobody said what was changed between them. They are the same where only one run
    measured it. `target` is the criterion's threshold brought into the metric's own unit.
    """

    metric: Metric
    baseline: float | None
    before: Measurement
    after: Measurement
    target: float | None
    criterion: Criterion | None
    is_practice: bool
    is_of_rounds: bool
    is_baseline_confirmed: bool
    gain: Gain | None

    @property
    def sign(self) -> str:
        """How the target is compared with; "" without one."""
        return SIGNS[self.criterion.definition.comparison] if self.criterion else ""

    @property
    def is_compared(self) -> bool:
        """Whether the value stands beside another one: a baseline, or an earlier run."""
        return self.baseline is not None or self.before != self.after

    @property
    def derivations(self) -> list[str]:
        """How values that no file holds as they stand were computed, each once."""
        return [*dict.fromkeys(filter(None, (
            str(getattr(row, "derivation", "")) for row in (self.before, self.after))))]

    @property
    def baseline_label(self) -> str:
        return gettext("Baseline") if self.is_baseline_confirmed else gettext(
            "Baseline, not confirmed")

    @property
    def before_label(self) -> str:
        return gettext("Before tuning") if self.is_of_rounds else gettext("First run")

    @property
    def after_label(self) -> str:
        return gettext("After tuning") if self.is_of_rounds else gettext("Newest run")


def bars_of(model: MigratedModel, known: History) -> list[Bars]:
    """All metrics that were measured for the model. Four queries, and one for the survey
    where samples are counted."""
    frozen_last = sorted(  # so that they win
        Baseline.objects.filter(model=model).select_related("artifact").order_by("pk"),
        key=lambda row: row.frozen_at is not None)
    measured: dict[str, list[Measurement]] = {}
    for row in in_tokens(list(of_target(Measurement.objects.filter(
            model=model, quantity__in=[m.name for m in METRICS],
            value__isnull=False)).select_related("artifact").order_by("pk"))):
        measured.setdefault(row.quantity, []).append(row)
    criteria = _criteria(model)
    by_quantity = {b.quantity: b for b in frozen_last}
    return [_bars(metric, measured[metric.name], by_quantity.get(metric.name),
                  criteria.get(metric.name), known) for metric in METRICS
            if metric.name in measured]


def _bars(metric: Metric, rows: list[Measurement], baseline: Baseline | None,
          criterion: Criterion | None, known: History) -> Bars:
    cells = [cell for row in known.rows if row.round.is_kept for cell in row.cells
             if cell.metric == metric and cell.measurement]
    is_of_rounds = len(cells) > 1
    before, after = ((cells[0].measurement, cells[-1].measurement) if is_of_rounds
                     else _first_and_newest(rows))
    reference = criterion.baseline if criterion and criterion.baseline else baseline
    value = float(reference.value) if reference and reference.value is not None else None
    is_practice = before.is_practice or after.is_practice or bool(
        reference and reference.artifact and reference.artifact.is_practice)
    return Bars(metric, value, before, after, _target(criterion, value), criterion, is_practice,
                is_of_rounds, bool(reference and reference.frozen_at),
                cells[-1].total if is_of_rounds else None)


def _first_and_newest(rows: list[Measurement]) -> list[Measurement]:
    """Of different runs; several files of one run are no comparison."""
    newest = rows[-1]
    first = next(row for row in rows if row is newest or not _same_run(row, newest))
    return [first, newest]


def _same_run(one: Measurement, other: Measurement) -> bool:
    """Whether both are of one job, or of the same bytes."""
    job = one.artifact.job_id
    return (job is not None and job == other.artifact.job_id) or (
        one.artifact.sha256 == other.artifact.sha256)


def _criteria(model: MigratedModel) -> dict[str, Criterion]:
    current = current_criteria(model.engagement)
    rows = current.criteria.filter(model=model).select_related(
        "definition", "baseline__artifact") if current else ()
    return {row.definition.quantity: row for row in rows}


def _target(criterion: Criterion | None, baseline: float | None) -> float | None:
    """The threshold as a value of the metric; None where the calculator has no such value."""
    if criterion is None:
        return None
    limit, calculator = float(criterion.threshold), criterion.definition.calculator
    if calculator == Calculator.VALUE:
        return limit
    if baseline is None:
        return None
    return {Calculator.RATIO: limit * baseline,
            Calculator.REDUCTION: (1 - limit) * baseline,
            Calculator.DEGRADATION: (1 - limit) * baseline}.get(calculator)
