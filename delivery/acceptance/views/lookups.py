"""Rows that a page shows, as far as the visitor may see them."""

from django.shortcuts import get_object_or_404

from delivery.acceptance.models import Review


def review_of(request, pk: int) -> Review:
    """The review of a document; 404 for strangers."""
    return get_object_or_404(Review.objects.visible_to(request.user).select_related(
        "document__engagement__customer", "decided_by"), document__pk=pk)
