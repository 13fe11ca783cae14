"""Rows and files that a page shows, as far as the visitor may see them."""

from django.shortcuts import get_object_or_404

from delivery.acceptance.models import Review
from delivery.acceptance.signing import page_images
from delivery.reports.views import in_reading_order


def review_of(request, pk: int) -> Review:
    """The review of a document; 404 for strangers."""
    return get_object_or_404(Review.objects.visible_to(request.user).select_related(
        "document__engagement__customer", "decided_by"), document__pk=pk)


def document_pages(found: Review) -> dict:
    """The document's page numbers in the reader's language, and its files in each."""
    files = in_reading_order(found.document.files.filter(format="pdf"))
    shown = files[0][0] if files else None
    return {"files": files, "shown_file": shown,
            "page_numbers": range(1, page_images.page_count(shown) + 1) if shown else []}
