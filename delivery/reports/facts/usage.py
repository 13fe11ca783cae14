"""How the migrated models are used: the newest successful run of each step (使用说明文档, S2)."""

from django.utils.translation import gettext as _

from assessments.labels.environments import item_label
from delivery.documents.bilingual import both, instant
from delivery.documents.tables.table import column, table
from delivery.reports.facts.cases import command_of, run_place
from delivery.reports.facts.run_records import kind_title
from delivery.reports.facts.source import Source
from engagements.stages import Stage
from engagements.text.text_joining import labelled
from workers.models import Job
from workers.runtimes import software

# What a reader repeats: the stages in which code, weights and converted models come about.
USED_IN = (Stage.TRAIN_ADAPT, Stage.TRAIN_TUNE, Stage.INFER_MIGRATE, Stage.INFER_TUNE)


def steps(source: Source) -> dict:
    """A row per model and kind of run, in the order of the stages: command, versions, conditions.

    Versions are those that the run's own runtime or node named, listed at the first run that had
    them; what no run recorded is said.
    """
    first: dict[str, int] = {}
    rows = [[job.model.code, both(job.get_stage_display), both(lambda j=job: kind_title(j.kind)),
             f"#{job.pk}", command_of(job), both(lambda j=job: _versions(j, first)),
             both(lambda j=job: _conditions(j))] for job in _newest(source)]
    return table(lambda: _("Steps as they ran"), [
        column(lambda: _("Model"), "code"), column(lambda: _("Stage")),
        column(lambda: _("Step of the work")), column(lambda: _("Run"), "code"),
        column(lambda: _("Command")), column(lambda: _("Versions")),
        column(lambda: _("Conditions"))],
        rows, is_dense=True, empty=lambda: _(
            "No run of adaptation, tuning or inference has succeeded yet."))


def _newest(source: Source) -> list[Job]:
    """The last success of each kind per model; with its first place in the order of the work."""
    found: dict[tuple, Job] = {}
    for job in source.engagement.jobs.whole().filter(
            stage__in=USED_IN, state="succeeded", is_regression=False).exclude(
            model=None).select_related("model", "node").order_by("pk"):
        found[job.model.position, list(Stage).index(job.stage), job.kind] = job
    return [found[key] for key in sorted(found)]


def _versions(job: Job, first: dict[str, int]) -> str:
    text = "\n".join(labelled(item_label(name), str(version))
                     for name, version in software.of_job(job).items() if version)
    if not text:
        return _("not recorded")
    run = first.setdefault(text, job.pk)
    return text if run == job.pk else _("as run #%(run)d") % {"run": run}


def _conditions(job: Job) -> str:
    took = _("finished %(at)s") % {"at": instant(job.finished_at)} if job.finished_at else ""
    marked = _("practice node: the figures are none of a real NPU") if job.is_practice else ""
    return "\n".join(filter(None, [run_place(job), took, marked]))
