"""The front page."""

from collections import Counter

from django.http import QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from delivery.next_steps import inbox_items
from delivery.next_steps.onboarding import onboarding
from delivery.portal.home import home_queries
from delivery.portal.home.exceptions import KINDS, exceptions_of
from delivery.portal.portfolio.views import portfolio_table, sees_portfolio
from engagements.access import Can, require
from engagements.models import Engagement
from engagements.web.paging import count_text
from engagements.web.scoped_pages import first_rows

TODOS, MOST_TODOS = 20, 200  # at first and, by and by, at most
MAX_JOBS = 10
MAX_ENGAGEMENTS = 12
LATE = QueryDict("late=1&sort=ends_on")
FEW_EXCEPTIONS = 5


@require_GET
def home(request):
    """What waits for the user, then late engagements for managers and sales, else one's own."""
    user, shown = request.user, _asked_for(request.GET.get("waiting", ""))
    found = inbox_items(user, limit=shown + 1, also="also" in request.GET)
    engagements = portfolio_table(user, LATE, MAX_ENGAGEMENTS) if sees_portfolio(user) else {
        "engagements": home_queries.my_engagements(user, MAX_ENGAGEMENTS)}
    return render(request, "delivery/portal/home.html", {
        "waiting": found[:shown], "waiting_count": found and count_text(len(found), shown),
        "waiting_more": len(found) > shown, "waiting_next": min(shown + TODOS, MOST_TODOS),
        "waiting_shown": shown, "onboarding": onboarding(user),
        "has_portfolio": sees_portfolio(user), **engagements,
        "has_engagements": Engagement.objects.visible_to(user).exists(),
        "quotes": home_queries.open_quotes(user, timezone.localdate()),
        "reviewer_projects": home_queries.reviewer_projects(user),
        **home_queries.fleet(user, timezone.now())})


@require_GET
def exceptions(request):
    """What a manager has to look at, of one kind where asked; with `few` the worst five, a part of
    the front page, which asks for it once it is shown."""
    require(request.user, Can.VIEW_INTERNAL)
    is_everything = bool(request.GET.get("everything"))
    found = exceptions_of(request.user, is_everything=is_everything)
    rows = found.rows
    if request.GET.get("few"):
        return render(request, "delivery/portal/exceptions_few.html", {
            "found": found, "rows": rows[:FEW_EXCEPTIONS], "count": len(rows)})
    kind, counts = request.GET.get("kind", ""), Counter(row.kind for row in rows)
    return render(request, "delivery/portal/exceptions.html", {
        "found": found, "is_everything": is_everything, "kind": kind,
        "kinds": [(row.code, row.label, counts[row.code]) for row in KINDS if counts[row.code]],
        "rows": [row for row in rows if kind in ("", row.kind)]})


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
