"""Links from performance readings to the page of their model."""

from django.urls import reverse
from django.utils.translation import gettext as _

from workers.models import StoredReading
from workers.reading_pages import register_reading_page


@register_reading_page("scaling")
@register_reading_page("memory")
@register_reading_page("inference_benchmark")
@register_reading_page("profile")
def performance_page(reading: StoredReading) -> tuple[str, str] | None:
    """The model's page; files that belong to no model have none."""
    model = reading.artifact.model_id
    if model is None:
        return None
    return _("Performance"), reverse("assessments:model_performance", args=[model])
