"""Rows that a page shows, as far as the visitor may see them."""

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404

from delivery.acceptance.models import Review
from delivery.reports.models import Document


def visible_reviews(user) -> QuerySet[Review]:
    return Review.objects.filter(document__in=Document.objects.visible_to(user)).select_related(
        "document__engagement__customer", "decided_by")


def review_of(request, pk: int) -> Review:
    """The review of a document; 404 for strangers."""
    return get_object_or_404(visible_reviews(request.user), document__pk=pk)


def browser_of(request) -> dict:
    """Where a signature comes from, as the audit certificate names it."""
    return {"ip_address": request.META.get("REMOTE_ADDR"),
            "user_agent": request.META.get("HTTP_USER_AGENT", "")}
