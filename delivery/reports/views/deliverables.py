"""Pages of the deliverables that the contract owes; each write is one service call."""

from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from delivery.reports import services
from delivery.reports.forms import DeliverableForm, ProofForm
from delivery.reports.models import Deliverable
from delivery.reports.views.common import visible_engagement
from engagements.access import Can, require
from engagements.web.form_actions import attempt, attempt_form


@require_GET
def deliverable_list(request, code):
    engagement = visible_engagement(request, code)
    rows = Deliverable.objects.visible_to(request.user).filter(
        engagement=engagement).select_related("model", "owner", "artifact", "delivered_by")
    return render(request, "delivery/reports/deliverables.html", {
        "engagement": engagement, "active": "documents", "deliverables": rows})


@require_POST
def deliverables_from_survey(request, code):
    engagement = visible_engagement(request, code)
    attempt(request, lambda: services.list_agreed(actor=request.user, engagement=engagement),
            _("The agreed deliverables are listed."))
    return redirect("reports:deliverables", code)


@require_http_methods(["GET", "POST"])
def deliverable_new(request, code):
    engagement = visible_engagement(request, code)
    require(request.user, Can.MANAGE, engagement)
    form = DeliverableForm(request.POST or None, of=engagement)
    if form.is_valid() and attempt_form(form, lambda: services.add_deliverable(
            actor=request.user, engagement=engagement, **form.cleaned_data)):
        return redirect("reports:deliverables", code)
    return _page(request, engagement, form, _("New deliverable"))


@require_http_methods(["GET", "POST"])
def deliverable_edit(request, pk):
    row = _row(request, pk)
    require(request.user, Can.MANAGE, row.engagement)
    form = DeliverableForm(request.POST or None, instance=row, of=row.engagement)
    if form.is_valid() and attempt_form(form, lambda: services.update_deliverable(
            actor=request.user, deliverable=row, **form.cleaned_data)):
        return redirect("reports:deliverables", row.engagement.code)
    return _page(request, row.engagement, form, str(row))


@require_http_methods(["GET", "POST"])
def deliverable_proof(request, pk):
    row = _row(request, pk)
    require(request.user, Can.WORK, row.engagement)
    form = ProofForm(request.POST or None, deliverable=row)
    if form.is_valid() and attempt_form(form, lambda: services.fulfil_deliverable(
            actor=request.user, deliverable=row, **form.cleaned_data)):
        return redirect("reports:deliverables", row.engagement.code)
    return _page(request, row.engagement, form, str(row))


@require_POST
def deliverable_reopen(request, pk):
    row = _row(request, pk)
    attempt(request, lambda: services.reopen_deliverable(actor=request.user, deliverable=row),
            _("Marked as outstanding again."))
    return redirect("reports:deliverables", row.engagement.code)


def _row(request, pk: int) -> Deliverable:
    return get_object_or_404(Deliverable.objects.visible_to(request.user).select_related(
        "engagement", "model"), pk=pk)


def _page(request, engagement, form, title: str):
    return render(request, "delivery/reports/deliverable_form.html", {
        "engagement": engagement, "active": "documents", "form": form, "title": title},
        status=400 if form.errors else 200)
