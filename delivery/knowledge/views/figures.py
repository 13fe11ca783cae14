"""Page of the library of measured figures."""

from django.http import Http404
from django.shortcuts import render
from django.views.decorators.http import require_GET

from delivery.knowledge import figure_queries
from delivery.knowledge.models import FigureRange
from engagements.access import Can, allowed
from engagements.web.paging import page_of

PER_PAGE = 50


@require_GET
def figure_list(request):
    """Ranges over engagements by family, chip, software and strategy; 404 for customers."""
    if not allowed(request.user, Can.VIEW_INTERNAL):
        raise Http404
    rows = figure_queries.filtered(FigureRange.objects.visible_to(request.user), request.GET)
    return render(request, "delivery/knowledge/figures.html", {
        "page": page_of(rows, request.GET, PER_PAGE), **figure_queries.choices(request.user)})
