"""Pages of regression runs: the accepted runs of a model, repeated on other software."""

from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from delivery.acceptance.forms import RegressionForm
from delivery.acceptance.models import RegressionRun
from delivery.acceptance.regression_comparison import (
    SAME_PERCENT,
    moved,
    moved_figures,
    pairs_of,
)
from delivery.acceptance.services.regression_runs import start_regression
from engagements.access import Can, allowed, require
from engagements.models import Engagement
from engagements.web.form_actions import attempt_form


@require_http_methods(["GET", "POST"])
def regression_runs(request, code):
    """The engagement's runs, and a form for the next."""
    engagement = get_object_or_404(Engagement.objects.visible_to(request.user), code=code)
    if request.method == "POST":
        require(request.user, Can.WORK, engagement)
    form = RegressionForm(request.POST or None, engagement=engagement, user=request.user)
    made = form.is_valid() and attempt_form(form, lambda: start_regression(
        actor=request.user, **form.cleaned_data))
    if made:
        return redirect("acceptance:regression_run", made.pk)
    return render(request, "delivery/acceptance/regression_runs.html", {
        "engagement": engagement, "may_work": allowed(request.user, Can.WORK),
        "form": form, "runs": engagement.regression_runs.select_related(
            "engagement", "model", "node", "started_by")}, status=400 if form.errors else 200)


@require_GET
def regression_run(request, pk):
    """What moved: accepted figure and new figure of each criterion, and the software of both."""
    run = get_object_or_404(RegressionRun.objects.visible_to(request.user).select_related(
        "engagement", "model", "node", "started_by"), pk=pk)
    return render(request, "delivery/acceptance/regression_run.html", {
        "run": run, "engagement": run.engagement, "rows": moved(run),
        "figures": moved_figures(run), "same": SAME_PERCENT,
        "pairs": [(pair, pair.repeating) for pair in pairs_of(run)]})
