"""The front page."""

from django.shortcuts import render
from django.views.decorators.http import require_GET

from delivery.next_steps import inbox_items
from delivery.next_steps.onboarding import onboarding
from delivery.portal.home import home_queries
from delivery.portal.portfolio.views import portfolio_table, sees_portfolio
from engagements.web.paging import count_text
from engagements.web.scoped_pages import first_rows

TODOS, MOST_TODOS = 20, 200  # at first and, by and by, at most
MAX_JOBS = 10
MAX_ENGAGEMENTS = 12


@require_GET
def home(request):
    """The portfolio for managers and sales, else one's engagements; what waits for the user."""
    user, shown = request.user, _asked_for(request.GET.get("waiting", ""))
    found = inbox_items(user, limit=shown + 1)
    engagements = portfolio_table(user, request.GET, MAX_ENGAGEMENTS) if sees_portfolio(user) else {
        "engagements": home_queries.my_engagements(user, MAX_ENGAGEMENTS)}
    return render(request, "delivery/portal/home.html", {
        "waiting": found[:shown], "waiting_count": found and count_text(len(found), shown),
        "waiting_more": len(found) > shown, "waiting_next": min(shown + TODOS, MOST_TODOS),
        "waiting_shown": shown, "onboarding": onboarding(user),
        "has_portfolio": sees_portfolio(user), **engagements})


@require_GET
def activity(request):
    """What the user waits for and jobs of today: a part of the front page, which asks for it once
    it is shown."""
    user = request.user
    return render(request, "delivery/portal/activity.html", {
        "handed_on": home_queries.handed_on(user),
        "troubled": first_rows(home_queries.troubled_jobs(user), MAX_JOBS),
        "running": home_queries.running_jobs(user)[:MAX_JOBS],
        "finished": home_queries.finished_jobs(user)[:MAX_JOBS]})


def _asked_for(text: str) -> int:
    """How much of the inbox is asked for; nonsense is the beginning of it."""
    return max(TODOS, min(int(text), MOST_TODOS)) if text.isdecimal() and len(text) < 6 else TODOS
