"""Pages of chains; each view calls one service."""

from django.shortcuts import get_object_or_404, redirect, render
from django.utils.html import format_html_join
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from engagements.access import Can, allowed, require
from engagements.models import Engagement, MigratedModel
from engagements.web.form_actions import attempt, attempt_form, show_errors
from toolreaders.number_parsing import whole_number
from workers.forms.chains import ChainForm, StartForm, StepFormSet
from workers.jobs import chain_overview
from workers.jobs.chain_places import PLACES
from workers.jobs.readable_values import readable
from workers.jobs.shipped_chains import titled
from workers.models import ChainRun, JobChain, Node, Runtime
from workers.services import chains as services


@require_GET
def chains(request):
    require(request.user, Can.VIEW_INTERNAL)
    runs = ChainRun.objects.visible_to(request.user).select_related(
        "chain", "model__engagement", "node").prefetch_related("jobs__job")
    return render(request, "workers/chains.html", {
        "chains": [titled(chain) for chain in JobChain.objects.all()], "runs": _shown(runs)})


def _shown(runs):
    found = list(runs[:30])
    for each in found:
        titled(each.chain)
    return found


@require_http_methods(["GET", "POST"])
def chain_new(request):
    require(request.user, Can.WORK)
    form = ChainForm(request.POST or None)
    steps = StepFormSet(request.POST or None, prefix="steps")
    if request.method == "POST" and form.is_valid() and steps.is_valid():
        wanted = [step for row in steps if (step := row.step())]
        saved = attempt_form(form, lambda: services.save_chain(
            actor=request.user, steps=wanted, **form.cleaned_data))
        if saved:
            return redirect("workers:chain", saved.pk)
    return render(request, "workers/chain_form.html", {
        "form": form, "steps": steps, "places": PLACES})


@require_GET
def chain(request, pk):
    require(request.user, Can.VIEW_INTERNAL)
    found = titled(get_object_or_404(JobChain, pk=pk))
    return render(request, "workers/chain.html", {
        "chain": found, "form": StartForm(user=request.user, chain=found),
        "steps": readable(found.steps, user=request.user, author_id=found.created_by_id),
        "runtimes": Runtime.objects.filter(pk__in=[
            step["runtime"] for step in found.steps if step.get("runtime")]),
        "runs": _shown(ChainRun.objects.visible_to(request.user).filter(chain=found).select_related(
            "chain", "model__engagement", "node").prefetch_related("jobs__job"))})


@require_POST
def chain_start(request, pk):
    found = get_object_or_404(JobChain, pk=pk)
    form = StartForm(request.POST, user=request.user, chain=found)
    require(request.user, Can.WORK)
    if not form.is_valid():
        show_errors(request, form)
        return redirect("workers:chain", pk)
    attempt(request, lambda: services.start_chain(
        actor=request.user, chain=found, models=list(form.cleaned_data["models"]),
        node=form.cleaned_data["node"], given=form.given()), _("The chain has started."))
    return redirect("workers:chain", pk)


@require_GET
def run(request, pk):
    found = get_object_or_404(ChainRun.objects.visible_to(request.user).select_related(
        "chain", "model__engagement", "node", "started_by"), pk=pk)
    jobs = {step.position: step.job for step in found.jobs.select_related("job__node")}
    titled(found.chain)
    return render(request, "workers/chain_run.html", {
        "run": found, "may_resume": chain_overview.may_resume(found),
        "rows": [(step, jobs.get(i)) for i, step in enumerate(found.steps)]})


@require_POST
def resume(request, pk):
    """Go on where the run stopped."""
    found = get_object_or_404(ChainRun.objects.visible_to(request.user), pk=pk)
    attempt(request, lambda: services.resume_run(actor=request.user, run=found),
            _("The chain continues."))
    return _back(request, found)


@require_POST
def cancel(request, pk):
    """End the run and its job at work."""
    found = get_object_or_404(ChainRun.objects.visible_to(request.user), pk=pk)
    attempt(request, lambda: services.cancel_run(actor=request.user, run=found),
            _("The chain was cancelled."))
    return _back(request, found)


def _back(request, run):
    """To the page on which the button stands."""
    if request.POST.get("next") == "engagement":
        return redirect("workers:engagement_chains", run.model.engagement.code)
    return redirect("workers:chain_run", run.pk)


@require_GET
def engagement_chains(request, code):
    """Models × chains of their routes."""
    require(request.user, Can.VIEW_INTERNAL)
    engagement = get_object_or_404(Engagement.objects.visible_to(request.user), code=code)
    nodes = Node.objects.visible_to(request.user).filter(state=Node.State.READY)
    return render(request, "workers/engagement_chains.html", {
        "engagement": engagement, "rows": chain_overview.rows(engagement), "active": "jobs",
        "can_work": allowed(request.user, Can.WORK), "node_options": format_html_join(
            "", '<option value="{}">{}</option>', nodes.values_list("pk", "name"))})


@require_POST
def engagement_chain_start(request, code):
    """Start a shipped chain for one model with what the page's row gives."""
    engagement = get_object_or_404(Engagement.objects.visible_to(request.user), code=code)
    given = {name.removeprefix("given-"): value for name, value in request.POST.items()
             if name.startswith("given-")}
    model = get_object_or_404(MigratedModel.objects.filter(engagement=engagement),
                              pk=whole_number(request.POST.get("model")))
    node = get_object_or_404(Node.objects.visible_to(request.user),
                             pk=whole_number(request.POST.get("node")))
    attempt(request, lambda: services.start_shipped(
        actor=request.user, code=request.POST.get("chain", ""), models=[model], node=node,
        given=given), _("The chain has started."))
    return redirect("workers:engagement_chains", code)
