"""Powers of attorney of the customer's signers."""

from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from delivery.acceptance import services
from delivery.acceptance.forms import PowerOfAttorneyForm
from delivery.acceptance.models import PowerOfAttorney
from delivery.acceptance.web import download
from engagements.access import Can, allowed, require
from engagements.models import Engagement
from engagements.web.form_actions import attempt, attempt_form


@require_http_methods(["GET", "POST"])
def powers_of_attorney(request, code):
    """Who may sign for the customer; project managers record it."""
    engagement = get_object_or_404(Engagement.objects.visible_to(request.user), code=code)
    if request.method == "POST":
        require(request.user, Can.MANAGE, engagement)
    form = PowerOfAttorneyForm(request.POST or None, request.FILES or None, engagement=engagement)
    if form.is_bound and form.is_valid() and attempt_form(form,
                                                          lambda: services.record_power_of_attorney(
            actor=request.user, engagement=engagement, **form.cleaned_data)):
        return redirect("acceptance:powers_of_attorney", code)
    today = timezone.localdate()
    rows = [(row, row.is_valid_on(today)) for row in engagement.powers.select_related(
        "user", "ended_by")]
    return render(request, "delivery/acceptance/powers_of_attorney.html", {
        "engagement": engagement, "form": form, "rows": rows,
        "may_manage": allowed(request.user, Can.MANAGE)}, status=400 if form.is_bound else 200)


def _power(request, pk: int) -> PowerOfAttorney:
    return get_object_or_404(PowerOfAttorney.objects.select_related("engagement"), pk=pk,
                             engagement__in=Engagement.objects.visible_to(request.user))


@require_POST
def power_of_attorney_end(request, pk):
    found = _power(request, pk)
    attempt(request, lambda: services.end_power_of_attorney(
        actor=request.user, power=found, reason=request.POST.get("reason", "")),
            _("The power of attorney has ended."))
    return redirect("acceptance:powers_of_attorney", found.engagement.code)


@require_GET
def power_of_attorney_file(request, pk):
    found = _power(request, pk)
    return download(found.file, found.file_name)
