"""Pages of the inventory import: file, preview, and how far the first look at each node is."""

from django.http import HttpRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from engagements.access import Can, require
from engagements.web.form_actions import attempt, attempt_form, show_errors
from toolreaders.number_parsing import whole_number
from workers.forms.node_imports import InventoryForm, InventoryKeyForm
from workers.models import ImportedNode, NodeImport
from workers.nodes import ssh
from workers.services import node_imports


@require_http_methods(["GET", "POST"])
def import_new(request):
    require(request.user, Can.OPERATE)
    form = InventoryForm(request.POST or None, request.FILES or None)
    if form.is_valid():
        upload = form.cleaned_data["upload"]
        source = attempt_form(form, lambda: node_imports.start_import(
            actor=request.user, upload=upload, file_name=upload.name,
            username=form.cleaned_data["username"]))
        if source:
            return redirect("workers:import", source.pk)
    return render(request, "workers/import_form.html", {"form": form})


def _source(request: HttpRequest, pk: int) -> NodeImport:
    return get_object_or_404(NodeImport.objects.visible_to(request.user), pk=pk)


@require_GET
def import_page(request, pk):
    """The preview; once applied, the progress of the looks, to htmx only that."""
    source = _source(request, pk)
    if source.applied_at:
        template = "workers/import_progress.html" if request.htmx else "workers/import_applied.html"
        return render(request, template, {"source": source, **_progress(source)})
    return render(request, "workers/import_preview.html", {
        "source": source, "table": node_imports.table_of(source), "form": InventoryKeyForm()})


def _progress(source: NodeImport) -> dict:
    looks = list(source.nodes.select_related("node"))
    for look in looks:
        offered = look.node.offered_host_key
        look.offered = ssh.fingerprint(offered) if offered else ""
    states = [look.state for look in looks]
    waiting = (ImportedNode.State.WAITING, ImportedNode.State.LOOKING)
    return {"looks": looks, "total": len(looks),
            "done": sum(state not in waiting for state in states),
            "ready": states.count(ImportedNode.State.READY),
            "failed": states.count(ImportedNode.State.FAILED),
            "to_confirm": states.count(ImportedNode.State.TO_CONFIRM)}


@require_POST
def import_try(request, pk):
    """The preview with what each address answers."""
    require(request.user, Can.OPERATE)
    source = _source(request, pk)
    if source.applied_at:
        return redirect("workers:import", pk)
    return render(request, "workers/import_preview.html", {
        "source": source, "table": node_imports.table_of(source), "form": InventoryKeyForm(),
        "trial": node_imports.try_rows(source)})


@require_POST
def import_apply(request, pk):
    source, form = _source(request, pk), InventoryKeyForm(request.POST)
    if form.is_valid():
        attempt(request, lambda: node_imports.apply_import(
            actor=request.user, source=source, **form.cleaned_data),
            _("The nodes are enrolled; each is being asked for its host key."))
    else:
        show_errors(request, form)
    return redirect("workers:import", pk)


@require_POST
def import_discard(request, pk):
    source = _source(request, pk)
    attempt(request, lambda: node_imports.discard_import(actor=request.user, source=source),
            _("Discarded."))
    return redirect("workers:nodes")


@require_POST
def import_accept(request, pk):
    """The ticked rows; each box carries the fingerprint that was shown beside it."""
    source = _source(request, pk)
    offers = {key: shown for name, shown in request.POST.items()
              if name.startswith("offer-") and (key := whole_number(name[6:])) is not None}
    attempt(request, lambda: node_imports.accept_fingerprints(
        actor=request.user, source=source, offers=offers), ngettext(
            "%(n)d key is being pinned.", "%(n)d keys are being pinned.", len(offers))
        % {"n": len(offers)})
    return redirect("workers:import", pk)


@require_POST
def import_again(request, pk):
    source = _source(request, pk)
    attempt(request, lambda: node_imports.look_again(actor=request.user, source=source),
            _("They are being probed again."))
    return redirect("workers:import", pk)
