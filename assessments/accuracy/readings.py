"""What an engagement holds on accuracy: comparisons, configuration checks, overflow files."""

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from assessments.models import Baseline, Measurement
from assessments.queries import is_indexable
from engagements.models import Engagement, MigratedModel
from engagements.remembered_reads import remembered
from workers.artifacts import provenance
from workers.models import Job, StoredReading
from workers.reading_pages import register_reading_page

KINDS = ("accuracy_compare", "config_check", "overflow")
CONFIG_READERS = ("msprobe_config_check", "msprobe_verl_compare")


def accuracy_files(engagement: Engagement, model: int | None = None) -> QuerySet[StoredReading]:
    """Readings on accuracy, newest file first; `values` is left to their own pages."""
    found = StoredReading.objects.filter(artifact__engagement=engagement, kind__in=KINDS)
    if model:
        found = found.filter(artifact__model=model)
    return found.select_related(
        "artifact__model", "artifact__job", "artifact__comparison").order_by("-artifact_id", "-pk")


@remembered
def newest_config_check(model: MigratedModel) -> StoredReading | None:
    """The newest comparison of configurations among the model's files."""
    return StoredReading.objects.filter(
        artifact__model=model, reader__in=CONFIG_READERS).select_related(
        "artifact__engagement").order_by("-artifact_id", "-pk").first()


def config_check_of(run: Measurement, baseline: Baseline | None) -> StoredReading | None:
    """The newest check that compares the configuration pack of the judged run, by what its own job
    was given, with that of the baseline's job where a job made the baseline."""
    reference = provenance.of(baseline.artifact).job if baseline and baseline.artifact else None
    for reading in StoredReading.objects.filter(
            artifact__model=run.model_id, reader__in=CONFIG_READERS).select_related(
            "artifact__job").order_by("-artifact_id", "-pk"):
        check = provenance.of(reading.artifact).job
        if check and run.job and _is_given(check, "candidate", run.job) and (
                reference is None or _is_given(check, "bench", reference)):
            return reading
    return None


def _is_given(check: Job, slot: str, run: Job) -> bool:
    """Whether the pack in the slot is one that the run left, or that was made from what it left."""
    row = check.inputs.filter(slot=slot).select_related("artifact__job", "source_job").first()
    maker = (provenance.of(row.artifact).job if row.artifact else row.source_job) if row else None
    return maker is not None and (maker == run or maker.inputs.filter(
        Q(source_job=run) | Q(artifact__job=run)).exists())


@register_reading_page("accuracy_compare")
def comparison_page(reading: StoredReading) -> tuple[str, str] | None:
    """Comparisons of operators have their page."""
    if not is_indexable(reading):
        return None
    return _("Operators"), reverse("assessments:comparison", args=[reading.artifact_id])


@register_reading_page("config_check")
def config_page(reading: StoredReading) -> tuple[str, str] | None:
    """Compared configurations; a pack alone has nothing to compare."""
    if reading.reader == "msprobe_config_pack":
        return None
    return _("Differences"), reverse("assessments:config_check", args=[reading.artifact_id])


@register_reading_page("overflow")
def overflow_page(reading: StoredReading) -> tuple[str, str]:
    """Overflow findings with their decoded bits."""
    return _("Overflow bits"), reverse("assessments:overflow", args=[reading.artifact_id])
