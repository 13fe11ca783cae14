"""Step times, operators and timelines from the readings of profiles."""

import re
from dataclasses import dataclass

from django.db.models import QuerySet

from assessments.queries import of_target
from engagements.models import MigratedModel
from toolreaders.verdicts.quantities import STEP_FORMS, step_parts
from workers.models import StoredReading

OPERATOR_FORMS = ("op_statistic", "kernel_details", "op_summary", "operator_details")
PARTS = ("computing", "communication", "free")
PROFILES_SHOWN, STEPS_SHOWN = 12, 64
TIMELINE_PARTS = ("computing", "communication", "uncovered", "free")
RANKS_SHOWN = 64
RANK = re.compile(r"rank[_ ]?(\d+)", re.IGNORECASE)


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


@dataclass(frozen=True)
class RankTimeline:
    """Milliseconds of a rank by part, and the busy share of each of its spans of time, by part.

    Uncovered communication is a part of communication; the others make up the whole.
    """

    label: str
    computing: float
    communication: float
    uncovered: float
    free: float
    span: float
    shares: dict[str, list[float]]

    @property
    def stage(self) -> float:
        return self.computing + self.uncovered + self.free

    def share(self, part: str) -> float | None:
        return getattr(self, part) / self.stage if self.stage else None


def step_profiles(model: MigratedModel) -> QuerySet[StoredReading]:
    """Step traces of the model, newest first."""
    return _readings(model, STEP_FORMS)


def operator_profiles(model: MigratedModel) -> QuerySet[StoredReading]:
    """Tables of operators of the model, newest first."""
    return _readings(model, OPERATOR_FORMS)


def traces(model: MigratedModel) -> QuerySet[StoredReading]:
    """Traces with a layer of computing and communication, newest first."""
    return _readings(model, ("trace_view",)).filter(values__timelines__0__isnull=False)


def timelines_of(reading: StoredReading) -> list[RankTimeline]:
    """The ranks of a trace; where a job collected it, of every trace of that job.

    A rank is known by the name of its folder or layer, else by `profiler_info_N.json` beside it;
    where neither says it, the file's name stands.
    """
    job = reading.artifact.job_id
    found = StoredReading.objects.filter(
        artifact__job=job, kind="profile", values__form__in=("trace_view", "profiler_info"),
    ).select_related("artifact") if job else [reading]
    ranks = {row.artifact.name.rpartition("/")[0]: row.values.get("rank") for row in found
             if row.values["form"] == "profiler_info"}
    rows = [(_rank(row, entry, ranks), entry) for row in found
            for entry in row.values.get("timelines", ())]
    rows.sort(key=lambda row: (row[0][0] is None, row[0][0] or 0, row[0][1]))
    return [RankTimeline(
        label, *(entry["totals_us"].get(part, 0) / 1000 for part in TIMELINE_PARTS),
        entry["span_us"] / 1000, entry["shares"]) for (_, label), entry in rows[:RANKS_SHOWN]]


def _rank(row: StoredReading, entry: dict, ranks: dict[str, int | None]
          ) -> tuple[int | None, str]:
    name = row.artifact.name
    written = RANK.search(entry["layer"]) or RANK.search(name)
    rank = int(written[1]) if written else ranks.get(
        name.partition("/ASCEND_PROFILER_OUTPUT/")[0])
    return rank, f"#{row.artifact_id} {name}"[:40] if rank is None else f"rank {rank}"


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
