"""Step times and operators from the readings of profiles."""

from dataclasses import dataclass

from django.db.models import QuerySet

from assessments.queries import of_target
from engagements.models import MigratedModel
from toolreaders.verdicts.quantities import STEP_FORMS, step_parts
from workers.models import StoredReading

OPERATOR_FORMS = ("op_statistic", "kernel_details", "op_summary", "operator_details")
PARTS = ("computing", "communication", "free")
PROFILES_SHOWN, STEPS_SHOWN = 12, 64


@dataclass(frozen=True)
class StepTime:
    """Milliseconds of one step, one rank, or the mean of a profile."""

    label: str
    computing: float
    communication: float
    free: float
    stage: float

    def share(self, part: str) -> float | None:
        return getattr(self, part) / self.stage if self.stage else None


@dataclass(frozen=True)
class OperatorTime:
    """An operator or operator type: milliseconds, and its share of the listed total."""

    name: str
    milliseconds: float
    share: float | None


def step_profiles(model: MigratedModel) -> QuerySet[StoredReading]:
    """Step traces of the model, newest first."""
    return _readings(model, STEP_FORMS)


def operator_profiles(model: MigratedModel) -> QuerySet[StoredReading]:
    """Tables of operators of the model, newest first."""
    return _readings(model, OPERATOR_FORMS)


def _readings(model: MigratedModel, forms: tuple[str, ...]) -> QuerySet[StoredReading]:
    return of_target(StoredReading.objects.filter(
        artifact__model=model, kind="profile", values__form__in=forms)).select_related(
        "artifact__job").order_by("-artifact_id", "-pk")


def steps_of(reading: StoredReading) -> list[StepTime]:
    """Each step or rank of a trace; the tool's µs become ms."""
    return [StepTime(f"{'rank ' if row['is_rank'] else ''}{row['label']}",
                     *(row[name] / 1000 for name in (*PARTS, "stage")))
            for row in step_parts(reading.values)][:STEPS_SHOWN]


def mean_of(reading: StoredReading) -> StepTime | None:
    """The mean over the steps or ranks of a trace."""
    steps = steps_of(reading)
    if not steps:
        return None
    return StepTime(f"#{reading.artifact_id} {reading.artifact.name}"[:40], *(
        sum(getattr(step, name) for step in steps) / len(steps) for name in (*PARTS, "stage")))


def operators_of(reading: StoredReading) -> list[OperatorTime]:
    """The ten that take longest, as the reader found them."""
    return [OperatorTime(str(row.get("type") or row.get("operator") or "--"),
                         (row.get("us") or 0.0) / 1000, row.get("share"))
            for row in reading.values.get("top", [])]
