"""The page of the search box."""

from django.shortcuts import render
from django.views.decorators.http import require_GET

from delivery.portal.search import global_search
from delivery.portal.search.commands import commands_for


@require_GET
def search(request):
    """The hits of a query; for htmx only their list."""
    text = request.GET.get("q", "").strip()
    page = "search_hits.html" if request.htmx else "search.html"
    return render(request, f"delivery/portal/{page}", {
        "q": text, "commands": commands_for(request.user, text),
        "found": global_search.search_or_newest(request.user, text)})
