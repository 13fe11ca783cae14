"""Pages of the portfolio; each parses its request, calls one function and answers."""

from django.core.cache import cache
from django.core.paginator import Paginator
from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from delivery.portal.models import SavedView
from delivery.portal.portfolio import groups, saved_views
from delivery.portal.portfolio.charts import charts_for
from delivery.portal.portfolio.columns import chosen_columns, columns_for, columns_with_days
from delivery.portal.portfolio.filter_words import asked_words
from delivery.portal.portfolio.groups import WHOLE
from delivery.portal.portfolio.rows import portfolio_engagements, rows_of
from delivery.portal.portfolio.workbook import workbook_of
from engagements.access import Can, allowed, require
from engagements.audit import download_log
from engagements.models import Engagement, Role, User
from engagements.search_index import pages_of
from engagements.stages import Stage
from engagements.web.form_actions import XLSX, attempt
from engagements.web.paging import counted, page_of

PER_PAGE = 25
CHART_SECONDS = 60


def sees_portfolio(user: User) -> bool:
    """Managers and sales: whose work is all engagements, not one."""
    return allowed(user, Can.MANAGE) or allowed(user, Can.PRICE)


def portfolio_table(user: User, params, per_page: int = PER_PAGE) -> dict:
    """What the table's template needs: page, rows, columns."""
    page = page_of(portfolio_engagements(user, params), params, per_page, pages_of(params))
    return {"page": page, "columns": chosen_columns(user, params.getlist("columns")),
            "rows": rows_of(page.object_list, with_money=allowed(user, Can.MANAGE))}


def whole_table(user: User, params) -> dict:
    """The same of all rows in any order, with groups and totals, where the filter leaves at most
    WHOLE engagements, unasked at most FEW; else a page of them, and that it is so."""
    found, is_asked = portfolio_engagements(user, params), groups.needs_whole(params)
    if counted(found, WHOLE) > (WHOLE if is_asked else groups.FEW):
        return {**portfolio_table(user, params), "is_too_many": is_asked}
    columns = chosen_columns(user, params.getlist("columns"))
    rows = groups.sorted_rows(rows_of(found, with_money=allowed(user, Can.MANAGE)),
                              params.get("sort", ""))
    by = params.get("group", "")
    page = Paginator(rows, PER_PAGE if by not in groups.GROUPS else WHOLE).get_page(
        params.get("page"))
    return {"page": page, "columns": columns, "rows": page.object_list,
            "all": groups.grouped(rows, columns, "")[0],
            "groups": groups.grouped(rows, columns, by) if by in groups.GROUPS else []}


@require_GET
def portfolio(request):
    """The table with its filter, the charts, and the saved views. Without a filter as the firm's
    standard view says."""
    require(request.user, Can.VIEW_INTERNAL)
    standard = None if request.GET else SavedView.objects.filter(is_default=True).first()
    if standard and standard.query:
        return redirect(f"{reverse('portal:portfolio')}?{standard.query}")
    return render(request, "delivery/portal/portfolio.html", {
        **whole_table(request.user, request.GET), "groupings": groups.GROUPS,
        "most": WHOLE, "all_columns": columns_for(request.user),
        "views": SavedView.objects.visible_to(request.user), "states": Engagement.State.choices,
        "stages": Stage.choices, "query": request.GET.urlencode(),
        "owners": User.objects.filter(role=Role.MANAGER, is_active=True)})


@require_GET
def charts(request):
    """The charts alone, which the page asks for once it is shown; kept for a minute."""
    require(request.user, Can.VIEW_INTERNAL)
    key = f"portfolio.charts.{request.user.pk}.{get_language()}"
    found = cache.get(key)
    if found is None:
        found = charts_for(request.user)
        cache.set(key, found, CHART_SECONDS)
    return render(request, "delivery/portal/portfolio_charts.html", {"charts": found})


@require_GET
def export(request):
    """All that the filter leaves, as a workbook with the chosen columns."""
    require(request.user, Can.VIEW_INTERNAL)
    pieces = workbook_of(
        portfolio_engagements(request.user, request.GET),
        columns_with_days(request.user, request.GET.getlist("columns")), title=_("Portfolio"),
        with_money=allowed(request.user, Can.MANAGE), sort=request.GET.get("sort", ""),
        asked=asked_words(request.GET))
    answer = StreamingHttpResponse(pieces, content_type=XLSX, headers={
        "Content-Disposition": 'attachment; filename="portfolio.xlsx"'})
    return download_log.of(answer, request.user)


@require_POST
def view_save(request):
    """Keep the filter, order and columns of the page under a name."""
    require(request.user, Can.VIEW_INTERNAL)
    query = request.POST.get("query", "")
    made = attempt(request, lambda: saved_views.save_view(
        actor=request.user, name=request.POST.get("name", ""), query=query,
        is_shared=bool(request.POST.get("is_shared")),
        is_default=bool(request.POST.get("is_default"))),
        _("View saved."))
    return redirect(f"{reverse('portal:portfolio')}?{made.query if made else query}")


@require_POST
def view_delete(request, pk):
    """Forget one's own view."""
    view = get_object_or_404(SavedView.objects.visible_to(request.user), pk=pk)
    attempt(request, lambda: saved_views.delete_view(actor=request.user, view=view),
            _("View deleted."),
            undo=lambda _done: ("view.delete", {"name": view.name, "query": view.query}))
    return redirect("portal:portfolio")
