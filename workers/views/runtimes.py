"""Pages of runtimes; each view calls one service."""

from django.core.paginator import Paginator
from django.http import Http404
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from engagements.access import Can, allowed, require
from engagements.web.form_actions import attempt, attempt_form
from toolreaders.number_parsing import whole_number
from workers.forms.runtimes import ChoiceForm, RuntimeForm
from workers.models import Runtime, RuntimeChoice, RuntimePlace
from workers.runtimes import options
from workers.services import runtimes

AT_ONCE = 30


def _page(request, form: ChoiceForm | None = None):
    user = request.user
    rows = Paginator(Runtime.objects.visible_to(user).in_use(), AT_ONCE).get_page(
        request.GET.get("page"))
    choices = RuntimeChoice.objects.visible_to(user).select_related(
        "runtime", "node", "engagement", "model__engagement")
    return render(request, "workers/runtimes.html", {
        "page": rows, "places": RuntimePlace.choices, "may_operate": allowed(user, Can.OPERATE),
        "runtimes": [(row, options.shown(row.place, row.options)) for row in rows],
        "choices": Paginator(choices, AT_ONCE).get_page(request.GET.get("page")),
        "may_choose": allowed(user, Can.WORK) or allowed(user, Can.OPERATE),
        "form": form or ChoiceForm(user=user, initial=request.GET.dict())})


@require_GET
def runtime_list(request):
    """Runtimes, and whose jobs get which."""
    require(request.user, Can.VIEW_INTERNAL)
    return _page(request)


def _edited(request, place: str, runtime: Runtime | None = None):
    require(request.user, Can.OPERATE)
    form = RuntimeForm(request.POST or None, user=request.user, place=place, runtime=runtime,
                       initial=request.GET.dict())
    if form.is_valid() and attempt_form(form, lambda: runtimes.save_runtime(
            actor=request.user, runtime=runtime, **form.arguments())):
        return redirect("workers:runtimes")
    return render(request, "workers/runtime_form.html", {
        "form": form, "runtime": runtime, "place": RuntimePlace(place)})


@require_http_methods(["GET", "POST"])
def runtime_new(request, place):
    if place not in RuntimePlace.values:
        raise Http404
    return _edited(request, place)


def _runtime(request, pk: int | None) -> Runtime:
    return get_object_or_404(Runtime.objects.visible_to(request.user).in_use(), pk=pk)


@require_http_methods(["GET", "POST"])
def runtime_edit(request, pk):
    runtime = _runtime(request, pk)
    return _edited(request, runtime.place, runtime)


@require_POST
def runtime_retire(request, pk):
    runtime = _runtime(request, pk)
    choices = list(runtime.choices.values_list("node", "engagement", "model"))
    attempt(request, lambda: runtimes.retire_runtime(actor=request.user, runtime=runtime),
            _("Out of use; queued jobs keep it."), undo=lambda made: ("runtime.retire", {
                "runtime": made.pk, "retired_at": made.retired_at.isoformat(),
                "choices": choices}))
    return redirect("workers:runtimes")


@require_POST
def choice_new(request):
    require(request.user, Can.VIEW_INTERNAL)
    _runtime(request, whole_number(request.POST.get("runtime")))
    form = ChoiceForm(request.POST, user=request.user)
    if form.is_valid() and attempt_form(form, lambda: runtimes.choose_runtime(
            actor=request.user, **form.cleaned_data)):
        return redirect("workers:runtimes")
    return _page(request, form)


@require_POST
def choice_end(request, pk):
    choice = get_object_or_404(RuntimeChoice.objects.visible_to(request.user), pk=pk)
    attempt(request, lambda: runtimes.end_choice(actor=request.user, choice=choice),
            _("Removed; later jobs use the next wider choice."))
    return redirect("workers:runtimes")
