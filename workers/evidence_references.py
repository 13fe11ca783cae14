"""Stored files as evidence: `#12` names the file with that number."""

from django.urls import reverse

from engagements.evidence_references import Evidence, register_evidence_prefix
from engagements.models import Engagement
from toolreaders.number_parsing import whole_number
from workers.models import Artifact


@register_evidence_prefix("#")
def stored_file(engagement: Engagement, number: str) -> Evidence | None:
    """A file of the engagement; None for any other number or text."""
    found = Artifact.objects.filter(engagement=engagement, pk=whole_number(number)).first()
    if found is None:
        return None
    return Evidence(f"#{found.pk} {found.name}", reverse("workers:artifact", args=[found.pk]))
