"""Pages of chains; each view calls one service."""

from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from engagements.access import Can, require
from engagements.web.form_actions import attempt, attempt_form
from workers.forms.chains import ChainForm, StartForm, StepFormSet
from workers.models import ChainRun, JobChain, Runtime
from workers.services import chains as services


@require_GET
def chains(request):
    require(request.user, Can.VIEW_INTERNAL)
    runs = ChainRun.objects.visible_to(request.user).select_related(
        "chain", "model__engagement", "node").prefetch_related("jobs__job")
    return render(request, "workers/chains.html", {
        "chains": JobChain.objects.all(), "runs": runs[:30]})


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
    return render(request, "workers/chain_form.html", {"form": form, "steps": steps})


@require_GET
def chain(request, pk):
    require(request.user, Can.VIEW_INTERNAL)
    found = get_object_or_404(JobChain, pk=pk)
    return render(request, "workers/chain.html", {
        "chain": found, "form": StartForm(user=request.user),
        "runtimes": Runtime.objects.filter(pk__in=[
            step["runtime"] for step in found.steps if step.get("runtime")]),
        "runs": ChainRun.objects.visible_to(request.user).filter(chain=found).select_related(
            "chain", "model__engagement", "node").prefetch_related("jobs__job")[:30]})


@require_POST
def chain_start(request, pk):
    found = get_object_or_404(JobChain, pk=pk)
    form = StartForm(request.POST, user=request.user)
    if not form.is_valid():
        attempt(request, lambda: services.start_chain(
            actor=request.user, chain=found, models=[], node=None), "")
        return redirect("workers:chain", pk)
    attempt(request, lambda: services.start_chain(
        actor=request.user, chain=found, models=list(form.cleaned_data["models"]),
        node=form.cleaned_data["node"]), _("The chain has started."))
    return redirect("workers:chain", pk)


@require_GET
def run(request, pk):
    found = get_object_or_404(ChainRun.objects.visible_to(request.user).select_related(
        "chain", "model__engagement", "node", "started_by"), pk=pk)
    jobs = {step.position: step.job for step in found.jobs.select_related("job__node")}
    return render(request, "workers/chain_run.html", {
        "run": found, "rows": [(step, jobs.get(i)) for i, step in enumerate(found.steps)]})
