"""Stored files as evidence: `#12` names the file with that number."""

from django.urls import reverse

from engagements.evidence import Evidence, register_evidence
from engagements.models import Engagement
from workers.models import Artifact


@register_evidence("#")
def stored_file(engagement: Engagement, number: str) -> Evidence | None:
    """A file of the engagement; None for any other number or text."""
    if not (number.isascii() and number.isdigit() and len(number) < 12):
        return None
    found = Artifact.objects.filter(engagement=engagement, pk=int(number)).first()
    if found is None:
        return None
    return Evidence(f"#{found.pk} {found.name}", reverse("workers:artifact", args=[found.pk]))
