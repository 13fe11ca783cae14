"""Test cases: object, precondition, steps, expected and actual result, verdict (GB/T 9386-2008).

A case of a criterion bears the verdict that the engine computed. A functional case comes from a
job that the model's route requires: its expectation is the test of the job's kind, its result what
became of the runs. No functional case is a signed criterion, and none is called passed.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assessments.definitions.aspects import aspect_of
from assessments.definitions.route_aspects import side_of_stage
from assessments.labels.verdict_sentences import SIGNS, in_unit, shown
from assessments.models import Criterion, Outcome, Verdict
from delivery.documents.bilingual import both
from delivery.documents.bundle_names import raw_name
from delivery.documents.tables.table import column, table
from delivery.documents.templatetags.document_tags import spans
from delivery.reports.command_words import shown_command
from delivery.reports.facts.environments import NOTHING, Fact, Sides
from delivery.reports.facts.run_records import kind_title, told_command
from delivery.reports.facts.source import Source
from engagements.errors import DeskError
from engagements.models import MigratedModel
from engagements.stages import Stage
from engagements.text.text_joining import colon, labelled, listed
from workers import kinds
from workers.models import Artifact, Job, JobState
from workers.required_jobs import REQUIRED_JOBS, RequiredJob

FUNCTIONAL = (Stage.TRAIN_ADAPT, Stage.INFER_MIGRATE)
COLUMNS: tuple[tuple[Callable[[], str], str], ...] = (
    (lambda: _("Case"), "code"), (lambda: _("Test object"), "text"),
    (lambda: _("Precondition and data"), "text"), (lambda: _("Steps"), "text"),
    (lambda: _("Expected"), "text"), (lambda: _("Actual"), "text"),
    (lambda: _("Verdict"), "text"))
COMMANDS = 3  # printed where the runs of a functional case differ; the annex file has every one


def case_numbers(source: Source) -> dict[int, str]:
    """The number of each criterion's case, by the criterion's key."""
    return {criterion.pk: f"TC-{n:02}" for n, (criterion, _v) in enumerate(source.judged, 1)}


def criterion_cases(source: Source, sides: Sides) -> dict:
    """One case per criterion of the set in force."""
    numbers = case_numbers(source)
    return table(lambda: _("Test cases of the criteria"), _columns(), [
        [numbers[criterion.pk], *_case(criterion, verdict, sides)]
        for criterion, verdict in source.judged], is_dense=True,
        empty=lambda: _("There is no criterion."))


def functional_cases(source: Source) -> dict:
    """One case per required kind of job and stage, for all models whose route asks for it."""
    return table(lambda: _("Functional test cases from the required runs"), _columns(), [
        [f"TF-{n:02}", *_functional(found)]
        for n, found in enumerate(_required(source), 1)], is_dense=True,
        empty=lambda: _("No route of a model requires a run of these stages."))


def _columns() -> list[dict]:
    return [column(title, look) for title, look in COLUMNS]


# Criteria ----------------------------------------------------------------------------------


def _case(criterion: Criterion, verdict: Verdict | None, sides: Sides) -> list:
    outcome = Outcome(verdict.outcome if verdict else Outcome.NOT_MEASURED)
    return [both(lambda: _object(criterion)),
            both(lambda: "\n".join(_preconditions(criterion, verdict, sides))),
            both(lambda: "\n".join(_steps(criterion, verdict))),
            both(lambda: _expected(criterion)),
            both(lambda: "\n".join(_actual(criterion, verdict))),
            both(lambda: outcome.label)]


def _object(criterion: Criterion) -> str:
    aspect, model = aspect_of(criterion.definition.quantity), criterion.model
    side = side_of_stage(criterion.stage, model)
    return (f"{model.code} {model.localized_name}\n"
            f"{side.label} · {aspect.label if aspect else _('Other')}\n"
            f"{criterion.definition.localized_name} V{criterion.definition.version}")


def _preconditions(criterion: Criterion, verdict: Verdict | None, sides: Sides) -> Iterator[str]:
    measurement = verdict.measurement if verdict else None
    if measurement and measurement.job:
        yield _run_place(measurement.job)
    if criterion.baseline and criterion.baseline.artifact:
        yield labelled(_("Baseline"), _file(criterion.baseline.artifact))
    elif criterion.baseline:
        yield labelled(_("Baseline"), _("%(value)s, no file") % {
            "value": f"{criterion.baseline.value} {criterion.baseline.unit}".strip()})
    yield from _data(criterion, measurement.job if measurement else None, sides)


def _run_place(job: Job) -> str:
    cards = sorted(lease.card_index for lease in job.leases.all())
    place = f"{job.node_names}" + (f" · {_('cards')} {spans(cards)}" if cards else "")
    return labelled(_("Node"), place)


def _data(criterion: Criterion, job: Job | None, sides: Sides) -> Iterator[str]:
    """The data set with its checksum; where no record has one, that is said."""
    inputs = list(job.inputs.select_related("artifact")) if job else []
    for given in inputs:
        digest = given.digest or (given.artifact.sha256 if given.artifact else "")
        yield labelled(_("Data"), f"{given.name} · SHA-256 {digest}" if digest else (
            _("%(name)s, no checksum recorded") % {"name": given.name}))
    if not inputs:
        before, after = sides.get((criterion.model.code, criterion.stage), ({}, {}))
        known: Fact = after.get("dataset", NOTHING) or before.get("dataset", NOTHING)
        yield labelled(_("Data"), _("%(name)s, no checksum recorded") % {"name": known.text}
                       if known else _("not recorded"))


def _file(artifact: Artifact) -> str:
    return f"E{artifact.pk} {raw_name(artifact.name, artifact.sha256)}"


def _steps(criterion: Criterion, verdict: Verdict | None) -> Iterator[str]:
    measurement = verdict.measurement if verdict else None
    if measurement is None:
        yield _("No run has been judged.")
        return
    if job := measurement.job:
        yield f"1. #{job.pk} {kind_title(job.kind)}{colon()}{_command(job)}"
    else:
        yield "1. " + _("The file was stored by hand; no run of this system made it.")
    yield "2. " + _("Read %(file)s with reader %(reader)s%(place)s.") % {
        "file": f"E{measurement.artifact_id}",
        "reader": f"{measurement.reader} {measurement.reader_version}",
        "place": f" ({measurement.place})" if measurement.place else ""}
    yield "3. " + _("Compute by the definition of the annex, engine %(version)s.") % {
        "version": verdict.engine_version}


def _command(job: Job) -> str:
    return shown_command(told_command([str(part) for part in job.command]))


def _expected(criterion: Criterion) -> str:
    definition = criterion.definition
    return f"{SIGNS[definition.comparison]} {in_unit(criterion.threshold, definition.unit)}"


def _actual(criterion: Criterion, verdict: Verdict | None) -> Iterator[str]:
    if verdict is None or verdict.measurement is None:
        yield _("not measured")
        return
    if verdict.figure is not None:
        yield shown(verdict.figure, criterion.threshold, criterion.definition.unit)[0]
    if points := verdict.facts.get("common_points"):
        yield _("%(points)s of %(all)s steps in common") % {
            "points": points, "all": verdict.facts.get("baseline_points", "–")}
    if runs := verdict.facts.get("runs"):
        yield ngettext("%(n)d run judged", "%(n)d runs judged", len(runs)) % {"n": len(runs)}
    yield _file(verdict.measurement.artifact)


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
    jobs = list(source.engagement.jobs.whole().filter(stage__in=FUNCTIONAL).order_by(
        "pk").prefetch_related("leases").select_related("node", "model"))
    asked: dict[tuple, tuple[RequiredJob, list[MigratedModel]]] = {}
    for model in source.models:
        scope = {record.stage for record in model.stages.exclude(state="skipped")}
        for required in REQUIRED_JOBS:
            if required.stage in scope.intersection(FUNCTIONAL) and required.kinds and (
                    required.holds_for(model)):
                asked.setdefault((required.stage, required.kinds), (required, []))[1].append(model)
    return [Required(required, {model: _newest(jobs, required, model) for model in models})
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
    places = dict.fromkeys(_run_place(job) for job in found.newest.values() if job)
    yield from places or [_("No run was made.")]


def _run_steps(found: Required) -> Iterator[str]:
    commands: dict[str, list[Job]] = {}
    for job in found.newest.values():
        if job:
            commands.setdefault(f"{kind_title(job.kind)}{colon()}{_command(job)}", []).append(job)
    for command, jobs in list(commands.items())[:COMMANDS]:
        yield f"{listed(f'#{job.pk}' for job in dict.fromkeys(jobs))} {command}"
    if (rest := len(commands) - COMMANDS) > 0:
        yield ngettext("%(n)d more command is in the annex file.",
                       "%(n)d more commands are in the annex file.", rest) % {"n": rest}
    if not commands:
        yield listed(kind_title(kind) for kind in found.required.kinds)


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
