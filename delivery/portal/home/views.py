"""The front page."""

from django.shortcuts import render
from django.views.decorators.http import require_GET

from delivery.portal.home import home_queries
from delivery.portal.inbox import inbox_items

MAX_TODOS = 60
MAX_JOBS = 10
MAX_ENGAGEMENTS = 12


@require_GET
def home(request):
    """What waits for the user first, then jobs and engagements."""
    user = request.user
    found = inbox_items(user)
    return render(request, "delivery/portal/home.html", {
        "waiting": found[:MAX_TODOS], "waiting_count": len(found),
        "waiting_more": max(0, len(found) - MAX_TODOS),
        "troubled": home_queries.troubled_jobs(user)[:MAX_JOBS],
        "running": home_queries.running_jobs(user)[:MAX_JOBS],
        "engagements": home_queries.my_engagements(user)[:MAX_ENGAGEMENTS]})
