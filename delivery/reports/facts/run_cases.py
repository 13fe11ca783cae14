"""Test cases of runs that no signed criterion judges: required runs and accuracy runs.

A functional case comes from a job that the model's route requires; an accuracy case from a run of
an accuracy kind. What is expected is the test of the job's kind, the result what became of the
runs. None of them is a signed criterion, and none is called passed.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from delivery.documents.bilingual import both
from delivery.documents.tables.table import table
from delivery.reports.facts.cases import case_columns, command_of, run_place, runs_of_case
from delivery.reports.facts.run_records import kind_title
from delivery.reports.facts.source import Source
from engagements.errors import DeskError
from engagements.models import MigratedModel
from engagements.stages import Stage, StageState
from engagements.text.text_joining import colon, labelled, listed
from workers import kinds
from workers.models import Job, JobState
from workers.models.job import FINAL_STATES
from workers.required_jobs import REQUIRED_JOBS, RequiredJob

FUNCTIONAL = (Stage.TRAIN_ADAPT, Stage.INFER_MIGRATE)
ACCURACY = "acc."  # how the codes of accuracy kinds begin
COMMANDS = SENTENCES = 3  # printed where runs of a case differ; the annex file has every one


def run_cases(source: Source) -> dict:
    """One case per required kind and stage, and one per accuracy kind and stage."""
    return table(lambda: _("Test cases of runs without a criterion: function and accuracy"),
                 case_columns(), [
        *([f"TF-{n:02}", *_functional(found)] for n, found in enumerate(_required(source), 1)),
        *([f"TA-{n:02}", *_accuracy(found)] for n, found in enumerate(_examined(source), 1))],
        is_dense=True, empty=lambda: _(
            "No route of a model requires a run of these stages, and no accuracy run was made."))


# Required runs --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Required:
    """A kind of run that models' routes require, with the newest run of each model."""

    required: RequiredJob
    newest: dict[MigratedModel, Job | None]

    @property
    def done(self) -> list[Job]:
        return [job for job in self.newest.values() if job and job.state == JobState.SUCCEEDED]

    @property
    def others(self) -> dict[str, Job | None]:
        """Models without success, by code."""
        return {model.code: job for model, job in self.newest.items()
                if not job or job.state != JobState.SUCCEEDED}


def _required(source: Source) -> list[Required]:
    asked: dict[tuple, tuple[RequiredJob, list[MigratedModel]]] = {}
    for model in source.models:
        scope = {record.stage for record in model.stages.all()
                 if record.state != StageState.SKIPPED}
        for required in REQUIRED_JOBS:
            if required.stage in scope.intersection(FUNCTIONAL) and required.kinds and (
                    required.holds_for(model)):
                asked.setdefault((required.stage, required.kinds), (required, []))[1].append(model)
    return [Required(required, {model: _newest(source.jobs, required, model) for model in models})
            for required, models in asked.values()]


def _newest(jobs: list[Job], required: RequiredJob, model: MigratedModel) -> Job | None:
    """The newest run of the kinds for the model or for all; a success comes before a failure."""
    found = [job for job in jobs if job.stage == required.stage and job.kind in required.kinds
             and job.model_id in (model.pk, None) and _counts(job)]
    return max(found, default=None, key=lambda job: (job.state == JobState.SUCCEEDED, job.pk))


def _counts(job: Job) -> bool:
    """Whether it ran in the mode that counts for the stage."""
    return all((job.parameters or {}).get(name) == value
               for name, value in kinds.get(job.kind).gate_parameters.items())


def _functional(found: Required) -> list:
    return [both(lambda: _objects(found)), both(lambda: "\n".join(_places(found))),
            both(lambda: "\n".join(_run_steps(found))),
            both(lambda: "\n".join(_success(kind) for kind in found.required.kinds)),
            both(lambda: "\n".join(_results(found))), both(lambda: _state(found))]


def _objects(found: Required) -> str:
    return f"{listed(model.code for model in found.newest)}\n{Stage(found.required.stage).label}"


def _places(found: Required) -> Iterator[str]:
    places = dict.fromkeys(run_place(job) for job in found.newest.values() if job)
    yield from places or [_("No run was made.")]


def _run_steps(found: Required) -> Iterator[str]:
    yield from _commands(job for job in found.newest.values() if job)
    if not any(found.newest.values()):
        yield listed(kind_title(kind) for kind in found.required.kinds)


def _commands(jobs: Iterable[Job]) -> Iterator[str]:
    """Kind and command of runs, those alike on one line."""
    commands: dict[str, list[Job]] = {}
    for job in jobs:
        title, command = kind_title(job.kind), command_of(job)  # what runs on the server has none
        commands.setdefault(labelled(title, command) if command else title, []).append(job)
    for command, alike in list(commands.items())[:COMMANDS]:
        yield f"{listed(f'#{job.pk}' for job in dict.fromkeys(alike))} {command}"
    if (rest := len(commands) - COMMANDS) > 0:
        yield ngettext("%(n)d more command is in the annex file.",
                       "%(n)d more commands are in the annex file.", rest) % {"n": rest}


def _success(kind: str) -> str:
    try:
        return str(kinds.get(kind).success)
    except DeskError:
        return ""


def _results(found: Required) -> Iterator[str]:
    yield _("%(done)d of %(all)d models as expected") % {
        "done": len(found.done), "all": len(found.newest)}
    sentences = dict.fromkeys(str(job.sentence) for job in found.done if job.sentence)
    if len(sentences) == 1:
        yield from sentences
    for code, job in found.others.items():
        yield f"{code}{colon()}" + (
            f"#{job.pk} {job.sentence or job.get_state_display()}" if job else _("no run"))


def _state(found: Required) -> str:
    if not found.others:
        return _("as expected")
    return _("not run") if not any(found.newest.values()) else _("not as expected")


# Accuracy runs --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Examined:
    """An accuracy kind in a stage: all ended runs that no criterion's case names."""

    kind: str
    stage: str
    runs: list[Job]  # by number

    @property
    def newest(self) -> list[Job]:
        """The run of each model that counts; those of the whole engagement count as one."""
        return list({job.model_id: job for job in self.runs}.values())

    @property
    def failed(self) -> list[Job]:
        return [job for job in self.newest if job.state != JobState.SUCCEEDED]


def _examined(source: Source) -> list[Examined]:
    """Accuracy kinds with runs of their own case, in the order of their first runs."""
    named = set(chain.from_iterable(runs_of_case(*judged) for judged in source.judged))
    shown = {model.pk for model in source.models} | {None}
    ended = FINAL_STATES - {JobState.CANCELLED}
    found: dict[tuple[str, str], list[Job]] = {}
    for job in source.jobs:
        if (job.kind.startswith(ACCURACY) and job.state in ended
                and job.pk not in named and job.model_id in shown):
            found.setdefault((job.stage, job.kind), []).append(job)
    return [Examined(kind, stage, runs) for (stage, kind), runs in found.items()]


def _accuracy(found: Examined) -> list:
    return [both(lambda: _examined_objects(found)),
            both(lambda: "\n".join(dict.fromkeys(run_place(job) for job in found.newest))),
            both(lambda: "\n".join(_accuracy_steps(found))), both(lambda: _success(found.kind)),
            both(lambda: "\n".join(_accuracy_results(found))),
            both(lambda: _("not as expected") if found.failed else _("as expected"))]


def _examined_objects(found: Examined) -> str:
    stage = str(Stage(found.stage).label) if found.stage else ""
    return "\n".join(filter(None, (listed(_whose(job) for job in found.newest), stage)))


def _whose(job: Job) -> str:
    return job.model.code if job.model else _("the whole engagement")


def _accuracy_steps(found: Examined) -> Iterator[str]:
    yield from _commands(found.newest)
    if len(found.runs) > len(found.newest):
        yield _("Runs in all: %(n)d; the newest of each model counts.") % {"n": len(found.runs)}


def _accuracy_results(found: Examined) -> Iterator[str]:
    """What the runs said, those alike on one line; what failed comes first."""
    by_sentence: dict[str, list[str]] = {}
    for job in sorted(found.newest, key=lambda job: job.state == JobState.SUCCEEDED):
        by_sentence.setdefault(str(job.sentence or job.get_state_display()), []).append(_whose(job))
    for sentence, whose in list(by_sentence.items())[:SENTENCES]:
        yield sentence if len(found.newest) == 1 else labelled(listed(whose), sentence)
    if (rest := len(by_sentence) - SENTENCES) > 0:
        yield ngettext("%(n)d more result is in the annex file.",
                       "%(n)d more results are in the annex file.", rest) % {"n": rest}
