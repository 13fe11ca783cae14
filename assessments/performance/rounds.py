"""The optimisation history of a model, every figure recomputed from its measurements."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from assessments.models import Measurement, OptimisationRound, Verdict
from assessments.performance.gains import BY_NAME, METRICS, Gain, Metric, gain
from assessments.performance.techniques import changed
from assessments.performance.token_rates import in_tokens
from assessments.queries import of_target
from engagements.models import MigratedModel


@dataclass(frozen=True)
class Cell:
    """A metric after a round: its value, the gain over the round before and over the start.

    `is_comparable` is false where the run before used another number of cards.
    """

    metric: Metric
    measurement: Measurement | None
    gain: Gain | None
    total: Gain | None
    is_comparable: bool = True

    @property
    def value(self) -> float | None:
        return self.measurement.value if self.measurement else None


@dataclass(frozen=True)
class RoundRow:
    """A round with its figures, with the verdicts on its accuracy, and with what of the technique's
    settings differs from the kept round before that configured it."""

    round: OptimisationRound
    cells: list[Cell]
    verdicts: list[Verdict]
    is_practice: bool
    settings: list[tuple[str, Any, Any]]


@dataclass(frozen=True)
class History:
    """All rounds of a model; `metrics` are those that any round measured."""

    metrics: list[Metric]
    rows: list[RoundRow]

    @property
    def totals(self) -> list[Cell]:
        """The last kept round against the start; not the sum of the rounds."""
        counted = [row for row in self.rows if row.round.is_kept]
        return counted[-1].cells if len(counted) > 1 else []


def history(model: MigratedModel) -> History:
    """Three queries, and one for the survey where samples are counted, whatever the number of
    rounds."""
    rounds = list(OptimisationRound.objects.filter(model=model).select_related(
        "artifact__job", "profile__job", "recorded_by").order_by("number"))
    if not rounds:
        return History([], [])
    known = _measured(model, rounds)
    metrics = [m for m in METRICS if any(m.name in found for found in known.values())]
    verdicts = _verdicts(rounds)
    rows: list[RoundRow] = []
    counted: list[OptimisationRound] = []
    for entry in rounds:
        cells = [_cell(metric, entry, counted, known) for metric in metrics]
        before = next((earlier.configuration for earlier in counted[::-1]
                       if entry.technique and earlier.technique == entry.technique), {})
        rows.append(RoundRow(entry, cells, verdicts.get(entry.artifact_id, []),
                             entry.artifact.is_practice, changed(before, entry.configuration)))
        counted += [entry] if entry.is_kept else []
    return History(metrics, rows)


def _cell(metric: Metric, entry: OptimisationRound, counted: list[OptimisationRound],
          known: dict[int, dict[str, Measurement]]) -> Cell:
    found = known[entry.pk].get(metric.name)
    earlier = [r for r in counted if metric.name in known[r.pk]]
    if found is None or not earlier:
        return Cell(metric, found, None, None)
    start, before = earlier[0], earlier[-1]
    values = {r.pk: known[r.pk][metric.name].value for r in (start, before)}
    return Cell(
        metric, found,
        gain(metric, values[before.pk], found.value) if same_cards(before, entry) else None,
        gain(metric, values[start.pk], found.value) if same_cards(start, entry) else None,
        is_comparable=same_cards(before, entry))


def same_cards(one: OptimisationRound, other: OptimisationRound) -> bool:
    """Whether both runs used as many cards, as far as jobs tell; files of unknown runs pass."""
    cards = [r.artifact.job.cards_total for r in (one, other) if r.artifact.job]
    return len(set(cards)) < 2


def _measured(model: MigratedModel, rounds: list[OptimisationRound]
              ) -> dict[int, dict[str, Measurement]]:
    """Per round and metric the measurement of its run: of its file, its profile, its job."""
    files = {pk for r in rounds for pk in (r.artifact_id, r.profile_id) if pk}
    jobs = {r.artifact.job_id for r in rounds if r.artifact.job_id}
    found = in_tokens(list(of_target(Measurement.objects.filter(
        Q(artifact__in=files) | Q(job__in=jobs), model=model,
        quantity__in=[m.name for m in METRICS], value__isnull=False)).order_by("pk")))
    return {r.pk: _of_round(r, found) for r in rounds}


def _of_round(entry: OptimisationRound, found: list[Measurement]) -> dict[str, Measurement]:
    sources = (
        lambda m: entry.artifact.job_id and m.job_id == entry.artifact.job_id,
        lambda m: entry.profile_id and m.artifact_id == entry.profile_id,
        lambda m: m.artifact_id == entry.artifact_id,
    )
    chosen: dict[str, Measurement] = {}
    for belongs in sources:  # the later the more particular
        chosen.update({m.quantity: m for m in found if belongs(m)})
    return chosen


def _verdicts(rounds: list[OptimisationRound]) -> dict[int, list[Verdict]]:
    """The newest verdict per criterion on each round's file: a gain must not cost accuracy.

    Criteria of performance stand in the figures themselves.
    """
    rows = Verdict.objects.filter(
        measurement__artifact__in=[r.artifact_id for r in rounds]).exclude(
        measurement__quantity__in=BY_NAME).select_related(
        "criterion__definition", "measurement").order_by("pk")
    newest = {(row.measurement.artifact_id, row.criterion_id): row for row in rows}
    found: dict[int, list[Verdict]] = {}
    for (artifact, _criterion), verdict in newest.items():
        found.setdefault(artifact, []).append(verdict)
    return found
