"""The front page."""

from django.shortcuts import render
from django.views.decorators.http import require_GET

from delivery.next_steps import inbox_items
from delivery.next_steps.onboarding import onboarding
from delivery.portal.home import home_queries
from delivery.portal.portfolio.views import portfolio_table, sees_portfolio
from engagements.web.paging import count_text

MAX_TODOS = 60
MAX_JOBS = 10
MAX_ENGAGEMENTS = 12


@require_GET
def home(request):
    """The portfolio for managers and sales, else one's engagements; what waits for the user and
    what the user waits for; jobs of today."""
    user = request.user
    found = inbox_items(user, limit=MAX_TODOS + 1)
    engagements = portfolio_table(user, request.GET, MAX_ENGAGEMENTS) if sees_portfolio(user) else {
        "engagements": home_queries.my_engagements(user)[:MAX_ENGAGEMENTS]}
    return render(request, "delivery/portal/home.html", {
        "waiting": found[:MAX_TODOS], "waiting_count": found and count_text(len(found), MAX_TODOS),
        "waiting_more": len(found) > MAX_TODOS, "onboarding": onboarding(user),
        "troubled": home_queries.troubled_jobs(user)[:MAX_JOBS],
        "running": home_queries.running_jobs(user)[:MAX_JOBS],
        "finished": home_queries.finished_jobs(user)[:MAX_JOBS],
        "handed_on": home_queries.handed_on(user), "has_portfolio": sees_portfolio(user),
        **engagements})
