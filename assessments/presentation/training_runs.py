"""Training runs of a model beside each other: what each was started with and in which environment,
what its log says, and what was judged by it."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from assessments.labels.environments import WORDS, item_label
from assessments.models import Baseline, Verdict
from assessments.presentation.quantity_labels import quantity_label
from assessments.verdicts import environments
from assessments.verdicts.run_settings import recorded_settings_of_each
from engagements.models import MigratedModel
from engagements.text.text_joining import bracketed
from toolreaders.verdicts.quantities import Quantity, quantities
from toolreaders.verdicts.quantity_rows import row_of
from workers.artifacts import provenance
from workers.labels.number_text import figure_text
from workers.models import Artifact, Job, StoredReading

MOST_COMPARED = 5
MOST_COLUMNS = 6  # of settings that nobody chose
KIND = "training_log"


@dataclass(frozen=True)
class TrainingRun:
    """One training log.

    Args:
        began: see `environments.began_at`.
        baseline: that the log is the figure of.
        settings: what the run was started with or printed itself, secrets masked.
        environment: of a baseline as it was recorded, else as the node was read.
        verdicts: the newest of each criterion that was judged by the log.
    """

    reading: StoredReading
    began: datetime
    baseline: Baseline | None
    settings: dict[str, str]
    environment: dict[str, str]
    verdicts: list[Verdict]

    @property
    def artifact(self) -> Artifact:
        return self.reading.artifact

    @property
    def job(self) -> Job | None:
        return self.artifact.job

    @property
    def name(self) -> str:
        """The job with its file, or the file that was uploaded; a number tells namesakes apart."""
        file = self.artifact
        return f"#{file.job_id} {file.name}" if file.job_id else file.name + bracketed(
            _("file %(n)d") % {"n": file.pk})

    @cached_property
    def quantities(self) -> list[Quantity]:
        """The figures that the log holds; the curve itself is none."""
        return [one for one in quantities(KIND, self.reading.values) if one.value is not None]

    @cached_property
    def figures(self) -> dict[str, str]:
        """What the log measures, in words."""
        values = self.reading.values
        loss = values.get("loss") or {}
        steps = (loss.get("first_step"), loss.get("last_step"))
        found = {} if None in steps else {_("Steps"): f"{steps[0]}–{steps[1]}"}
        if isinstance(loss.get("last"), int | float):
            found[_("Last loss")] = figure_text(loss["last"])
        for quantity in self.quantities:
            row = row_of(quantity.name)
            is_share = row is not None and row.is_share
            label = quantity_label(quantity.name) + bracketed(row.unit if row else quantity.unit)
            found[label] = figure_text(quantity.value * (100 if is_share else 1))
        return found


@dataclass(frozen=True)
class Line:
    """One setting, item or figure over several runs; None where a run does not tell it."""

    name: str
    values: list[str | None]

    @property
    def is_different(self) -> bool:
        return len({value for value in self.values if value is not None}) > 1


def training_logs(model: MigratedModel) -> QuerySet[StoredReading]:
    """What was read last of each training log of the model, newest file first."""
    later = StoredReading.objects.filter(artifact=OuterRef("artifact"), kind=KIND,
                                         pk__gt=OuterRef("pk"))
    return StoredReading.objects.filter(
        ~Exists(later), engagement=model.engagement_id, kind=KIND, artifact__model=model,
    ).select_related("artifact__job__node", "artifact__engagement").order_by("-artifact_id", "-pk")


def described(readings: Iterable[StoredReading]) -> list[TrainingRun]:
    """The runs of these readings, in their order."""
    readings = list(readings)
    artifacts = [reading.artifact for reading in readings]
    known = provenance.of_each(artifacts)
    settings = recorded_settings_of_each([(each, each.job) for each in artifacts])
    verdicts = _verdicts(artifacts)
    baselines = {row.artifact_id: row for row in Baseline.objects.filter(
        artifact__in=artifacts).order_by("pk")}
    found = []
    for reading in readings:
        key, baseline = reading.artifact_id, baselines.get(reading.artifact_id)
        found.append(TrainingRun(
            reading, environments.began_of(known[key]), baseline, settings[key],
            environments.of_baseline(baseline) if baseline else environments.of_job(
                reading.artifact.job), verdicts[key]))
    return found


def _verdicts(artifacts: Sequence[Artifact]) -> dict[int, list[Verdict]]:
    newest = {(row.measurement.artifact_id, row.criterion_id): row
              for row in Verdict.objects.filter(measurement__artifact__in=artifacts).select_related(
                  "measurement", "criterion__definition").order_by("pk")}
    found = defaultdict(list)
    for (artifact, _criterion), verdict in newest.items():
        found[artifact].append(verdict)
    return found


def setting_lines(runs: Sequence[TrainingRun]) -> list[Line]:
    """Each setting that one of the runs names, by name."""
    return [Line(name, [run.settings.get(name) for run in runs])
            for name in sorted({name for run in runs for name in run.settings})]


def environment_lines(runs: Sequence[TrainingRun]) -> list[Line]:
    """Each item of the environment that one of the runs records, in the order of the labels."""
    order = {name: place for place, name in enumerate(WORDS)}
    names = sorted({name for run in runs for name in run.environment},
                   key=lambda name: (order.get(name, len(order)), name))
    return [Line(item_label(name), [run.environment.get(name) for run in runs]) for name in names]


def figure_lines(runs: Sequence[TrainingRun]) -> list[Line]:
    """Each figure that one of the logs holds."""
    names = dict.fromkeys(name for run in runs for name in run.figures)
    return [Line(name, [run.figures.get(name) for run in runs]) for name in names]


def chosen_settings(lines: Sequence[Line], asked: Sequence[str]) -> list[str]:
    """Which of the settings stand as columns: those asked for, else the first in which the runs
    differ."""
    if found := [line.name for line in lines if line.name in asked]:
        return found
    return [line.name for line in lines if line.is_different][:MOST_COLUMNS]
