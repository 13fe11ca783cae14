"""The evidence bundle as an item of a review's check-list of deliverables."""

from django.urls import reverse
from django.utils.translation import gettext as _

from delivery.acceptance.models import Review


def newest_bundle(review: Review, _language: str) -> list[tuple]:
    """Key, title, version, SHA-256 and URL of the newest bundle; empty if there is none."""
    newest = review.document.bundles.first()
    return [(f"bundle:{newest.sha256}", _("Evidence bundle (zip)"),
             f"V{review.document.version}.0", newest.sha256,
             reverse("evidence:bundle", args=[newest.pk]))] if newest else []
