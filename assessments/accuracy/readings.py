"""What an engagement holds on accuracy: comparisons, configuration checks, overflow files."""

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from assessments.queries import is_indexable
from engagements.models import Engagement, MigratedModel
from workers.models import StoredReading
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


def newest_config_check(model: MigratedModel) -> StoredReading | None:
    """The newest comparison of configurations among the model's files."""
    return StoredReading.objects.filter(
        artifact__model=model, reader__in=CONFIG_READERS).select_related(
        "artifact__engagement").order_by("-artifact_id", "-pk").first()


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
