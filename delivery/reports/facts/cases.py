"""Test cases: object, precondition, steps, expected and actual result, verdict (GB/T 9386-2008).

A case of a criterion bears the verdict that the engine computed. Cases of runs that no criterion
judges are in `run_cases`.
"""

from collections.abc import Callable, Iterator

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from assessments.definitions.aspects import aspect_of
from assessments.definitions.route_aspects import side_of_stage
from assessments.models import Criterion, Outcome, Verdict
from assessments.presentation.verdict_rows import origin
from bundle_verifier.bundle_format import raw_name
from delivery.documents.bilingual import both
from delivery.documents.tables.table import column, table
from delivery.documents.templatetags.document_tags import spans
from delivery.reports.command_words import shown_command
from delivery.reports.facts.environments import NOTHING, recorded_target
from delivery.reports.facts.run_records import cards_of, kind_title, tool_command
from delivery.reports.facts.source import Source
from engagements.remembered_reads import remembered
from engagements.text.text_joining import colon, labelled, listed
from toolreaders.verdicts.sentences import SIGNS, in_unit, shown
from workers.models import Artifact, Job, JobInput, JobState

COLUMNS: tuple[tuple[Callable[[], str], str], ...] = (
    (lambda: _("Case"), "code"), (lambda: _("Test object"), "text"),
    (lambda: _("Precondition and data"), "text"), (lambda: _("Test steps"), "text"),
    (lambda: _("Expected result"), "text"), (lambda: _("Actual result"), "text"),
    (lambda: _("Verdict"), "text"))
COMPARISON = "acc.loss_compare"  # computes on the server what the engine computes for a criterion


def case_numbers(source: Source) -> dict[int, str]:
    """The number of each criterion's case, by the criterion's key."""
    return {criterion.pk: f"TC-{n:02}" for n, (criterion, _v) in enumerate(source.judged, 1)}


def criterion_cases(source: Source) -> dict:
    """One case per criterion of the set in force."""
    numbers = case_numbers(source)
    return table(lambda: _("Test cases of the criteria"), case_columns(), [
        [numbers[criterion.pk], *_case(criterion, verdict)]
        for criterion, verdict in source.judged], is_dense=True,
        empty=lambda: _("There is no criterion."))


def case_columns() -> list[dict]:
    """The columns of every table of test cases."""
    return [column(title, look) for title, look in COLUMNS]


def runs_of_case(criterion: Criterion, verdict: Verdict | None) -> set[int]:
    """Numbers of the runs that a criterion's case names: of baseline, measurement, comparison."""
    found = {criterion.baseline.artifact.job_id} if (
        criterion.baseline and criterion.baseline.artifact) else set()
    if verdict and verdict.measurement:
        found |= {verdict.measurement.job_id, *_comparisons(criterion, verdict),
                  *(run.get("job") for run in verdict.facts.get("runs") or [])}
    return found - {None}


@remembered
def _comparisons(criterion: Criterion, verdict: Verdict) -> list[int]:
    """Successful runs that compared the judged file with the baseline's by the same definition."""
    if not (criterion.baseline and criterion.baseline.artifact_id):
        return []
    return [job.pk for job in criterion.model.jobs.filter(
        kind=COMPARISON, state=JobState.SUCCEEDED).order_by("pk")
        if (given := job.parameters or {}).get("baseline") == criterion.baseline.artifact_id
        and given.get("candidate") == verdict.measurement.artifact_id
        and given.get("definition") == criterion.definition.code]


# Criteria ----------------------------------------------------------------------------------


def _case(criterion: Criterion, verdict: Verdict | None) -> list:
    outcome = Outcome(verdict.outcome if verdict else Outcome.NOT_MEASURED)
    return [both(lambda: _object(criterion)),
            both(lambda: "\n".join(_preconditions(criterion, verdict))),
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


def _preconditions(criterion: Criterion, verdict: Verdict | None) -> Iterator[str]:
    measurement = verdict.measurement if verdict else None
    if measurement and measurement.job:
        yield run_place(measurement.job)
    if whose := origin(verdict):
        yield whose
    if criterion.baseline and criterion.baseline.artifact:
        yield labelled(_("Baseline"), _file(criterion.baseline.artifact))
    elif criterion.baseline:
        yield labelled(_("Baseline"), _("%(value)s, no file") % {
            "value": f"{criterion.baseline.value} {criterion.baseline.unit}".strip()})
    yield from _data(verdict)


def run_place(job: Job) -> str:
    """Where a run was made: node and cards, or this server."""
    cards = cards_of(job)
    if not job.node_names:
        return _("Run on this server, not on a node")
    if not cards:
        return labelled(_("Node"), job.node_names)
    return labelled(_("Node"), _("%(node)s · cards %(cards)s") % {
        "node": job.node_names, "cards": spans(cards)})


def _data(verdict: Verdict | None) -> Iterator[str]:
    """The data set that the run read, with its checksum; where no record has one, that is said."""
    job = verdict.measurement.job if verdict and verdict.measurement else None
    inputs = _inputs(job) if job else []
    for given in inputs:
        digest = given.digest or (given.artifact.sha256 if given.artifact else "")
        yield labelled(_("Data"), f"{given.name} · SHA-256 {digest}" if digest else (
            _("%(name)s, no checksum recorded") % {"name": given.name}))
    if not inputs:
        known = recorded_target(verdict).get("dataset", NOTHING)
        yield labelled(_("Data"), _("%(name)s, no checksum recorded") % {"name": known.text}
                       if known else _("not recorded: the run names no data set"))


@remembered
def _inputs(job: Job) -> list[JobInput]:
    """What the job was given to read; one without file and place is another job."""
    return [row for row in job.inputs.select_related("artifact")
            if row.artifact or row.digest or row.place]


def _file(artifact: Artifact) -> str:
    return f"E{artifact.pk} {raw_name(artifact.name, artifact.sha256)}"


def _steps(criterion: Criterion, verdict: Verdict | None) -> Iterator[str]:
    measurement = verdict.measurement if verdict else None
    if measurement is None:
        yield _("No run has been judged.")
        return
    if job := measurement.job:
        yield f"1. #{job.pk} {kind_title(job.kind)}{colon()}{command_of(job)}"
    else:
        yield "1. " + _("The file was uploaded by hand; no run of this system produced it.")
    yield "2. " + _("Read %(file)s with reader %(reader)s%(place)s.") % {
        "file": f"E{measurement.artifact_id}",
        "reader": f"{measurement.reader} {measurement.reader_version}",
        "place": f" ({measurement.place})" if measurement.place else ""}
    yield "3. " + _("Compute by the definition of the annex, engine %(version)s.") % {
        "version": verdict.engine_version}
    if compared := _comparisons(criterion, verdict):
        yield "4. " + _("The same comparison as a run: %(runs)s.") % {
            "runs": listed(f"#{pk}" for pk in compared)}


def command_of(job: Job) -> str:
    return shown_command(tool_command([str(part) for part in job.command]))


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
