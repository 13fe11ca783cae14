"""Pages of effort and time; each view calls one service."""

from django.core.paginator import Paginator
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from delivery.planning import queries
from delivery.planning.effort import calibration, usage
from delivery.planning.forms.effort import CostForm, DaysForm, NewLineForm, TimeForm
from delivery.planning.forms.people import MarginFloorForm
from delivery.planning.models import EffortEstimate, EffortLine, GradeCost, MarginFloor, TimeEntry
from delivery.planning.services import estimates as services
from delivery.planning.services import quoting
from delivery.planning.services import time_entries as time_services
from delivery.planning.time.burn_up import burn_up
from engagements.access import Can, allowed, require
from engagements.web.form_actions import attempt, attempt_form
from engagements.web.paging import page_of
from engagements.web.row_pages import MoveRow, form_page, internal_engagement, visible_engagement

LINES_A_PAGE = 100


@require_GET
def effort(request, code):
    engagement = internal_engagement(request, code)
    version = request.GET.get("version", "")
    estimates = EffortEstimate.objects.visible_to(request.user).filter(
        engagement=engagement).select_related("engagement", "created_by", "approved_by")
    estimate = (get_object_or_404(estimates, version=version) if version.isdecimal()
                else estimates.first())
    return render(request, "delivery/planning/effort.html", {
        "engagement": engagement, "active": "effort", "estimates": estimates,
        "estimate": estimate, "calibration": calibration.recent_comparison(),
        **(_estimate_facts(estimate, request.GET.get("page")) if estimate else {})})


def _estimate_facts(estimate: EffortEstimate, page) -> dict:
    lines = estimate.lines.select_related("model", "estimate__engagement")
    return {"page": Paginator(lines, LINES_A_PAGE).get_page(page),
            "by_grade": _with_bars(queries.totals(estimate, "grade")),
            "by_stage": _with_bars(queries.totals(estimate, "stage")),
            "total": queries.grand_total(estimate),
            "is_draft": estimate.state == EffortEstimate.State.DRAFT}


def _with_bars(rows: list[dict]) -> list[dict]:
    """The rows with their days as shares of the longest one's, in per cent."""
    most = max((row["high"] for row in rows), default=0) or 1
    return [{**row, "bar": {name: round(100 * row[name] / most, 1)
                            for name in ("low", "likely", "high")}} for row in rows]


@require_POST
def effort_draft(request, code):
    engagement = internal_engagement(request, code)
    attempt(request, lambda: services.draft_estimate(actor=request.user, engagement=engagement),
            _("Draft computed from the models' recorded data."))
    return redirect("planning:effort", code)


@require_POST
def effort_quote(request, code):
    engagement = visible_engagement(request, code)
    made = attempt(request, lambda: quoting.quote_estimate(
        actor=request.user, engagement=engagement),
                   _("Draft created from the estimate. Check it and submit it for review."))
    return redirect("quotes:quote", made.pk) if made else redirect("planning:effort", code)


@require_POST
def effort_approve(request, code, version):
    engagement = internal_engagement(request, code)
    estimate = get_object_or_404(engagement.estimates, version=version)
    attempt(request, lambda: services.approve_estimate(actor=request.user, estimate=estimate),
            _("Estimate approved and frozen."))
    return redirect("planning:effort", code)


@require_http_methods(["GET", "POST"])
def effort_line(request, pk):
    line = get_object_or_404(
        EffortLine.objects.visible_to(request.user).select_related(
            "estimate__engagement", "model"), pk=pk)
    engagement = line.estimate.engagement
    require(request.user, Can.WORK, engagement)
    form = DaysForm(request.POST or None, instance=line, of=line.estimate)
    if form.is_valid() and attempt_form(form, lambda: services.adjust_line(
            actor=request.user, line=line, **form.cleaned_data)):
        return redirect("planning:effort", engagement.code)
    return form_page(request, form, engagement, tab="effort", title=str(line), submit=_("Save"))


@require_http_methods(["GET", "POST"])
def effort_line_new(request, code, version):
    engagement = internal_engagement(request, code)
    require(request.user, Can.WORK, engagement)
    estimate = get_object_or_404(engagement.estimates, version=version)
    form = NewLineForm(request.POST or None, of=estimate)
    if form.is_valid() and attempt_form(form, lambda: services.add_effort_line(
            actor=request.user, estimate=estimate, **form.cleaned_data)):
        return redirect("planning:effort", code)
    return form_page(request, form, engagement, tab="effort", title=_("Add a line"),
                     submit=_("Add"))


@require_GET
def time(request, code):
    engagement = internal_engagement(request, code)
    entries = queries.time_of(engagement, request.user, request.GET)
    may_see_margin = allowed(request.user, Can.MANAGE)
    chart = burn_up(engagement, usage.effort_of(engagement), timezone.localdate())
    return render(request, "delivery/planning/time.html", {
        "engagement": engagement, "active": "time", "grades": usage.days_by_grade(engagement),
        "series": [chart] if chart else [],
        "margin": usage.margin(engagement) if may_see_margin else None,
        "people": queries.days_by_person(entries),
        "team": engagement.memberships.exclude(role="reviewer").select_related("user"),
        "page": page_of(entries, request.GET, 50)})


@require_http_methods(["GET", "POST"])
def time_new(request, code):
    engagement = internal_engagement(request, code)
    require(request.user, Can.WORK, engagement)
    form = TimeForm(request.POST or None, of=engagement, user=request.user,
                    may_book_others=allowed(request.user, Can.MANAGE))
    if form.is_valid() and attempt_form(form, lambda: time_services.record_day(
            actor=request.user, engagement=engagement, **form.cleaned_data)):
        return redirect("planning:time", code)
    return form_page(request, form, engagement, tab="time", title=_("Record time"),
                     submit=_("Record"))


time_remove = MoveRow.as_view(
    model=TimeEntry, tab="time", service=time_services.remove_time, row_name="entry",
    success=_("Removed."))


@require_http_methods(["GET", "POST"])
def costs(request):
    require(request.user, Can.MANAGE)
    form = CostForm(request.POST or None)
    if form.is_valid() and attempt_form(form, lambda: time_services.set_grade_cost(
            actor=request.user, **form.cleaned_data)):
        return redirect("planning:costs")
    return render(request, "delivery/planning/costs.html", {
        "form": form, "costs": GradeCost.objects.all(),
        "floor_form": MarginFloorForm(initial=MarginFloor.objects.values().first())})
