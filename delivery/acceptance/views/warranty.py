"""Claims under the warranty: a list with its forms; each write is one service call."""

from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from delivery.acceptance import services
from delivery.acceptance.certificates import certificate_in_force, warranty_period
from delivery.acceptance.forms import ClaimForm, RepairForm
from delivery.acceptance.models import WarrantyClaim
from engagements.access import Can, allowed
from engagements.models import Engagement
from engagements.web.form_actions import attempt, attempt_form, show_errors


@require_http_methods(["GET", "POST"])
def warranty(request, code):
    engagement = get_object_or_404(Engagement.objects.visible_to(request.user), code=code)
    form = ClaimForm(request.POST or None, engagement=engagement)
    if form.is_valid() and attempt_form(form, lambda: services.raise_claim(
            actor=request.user, engagement=engagement, **form.cleaned_data)):
        return redirect("acceptance:warranty", code)
    certificate = certificate_in_force(engagement)
    claims = engagement.warranty_claims.select_related(
        "engagement", "model", "raised_by", "regression", "reported_by", "closed_by")
    may_work = allowed(request.user, Can.WORK)
    return render(request, "delivery/acceptance/warranty.html", {
        "engagement": engagement, "form": form, "certificate": certificate,
        "period": warranty_period(certificate.review) if hasattr(certificate, "review") else None,
        "claims": [(claim, RepairForm(claim=claim) if may_work and not claim.closed_at else None)
                   for claim in claims],
        "may_claim": may_work or allowed(request.user, Can.REVIEW),
        "may_close": allowed(request.user, Can.REVIEW)}, status=400 if form.errors else 200)


@require_POST
def repair(request, pk):
    claim = _claim(request, pk)
    form = RepairForm(request.POST, claim=claim)
    if form.is_valid():
        attempt(request, lambda: services.report_repair(
            actor=request.user, claim=claim, **form.cleaned_data),
                _("Reported; awaiting the customer's confirmation."))
    else:
        show_errors(request, form)
    return redirect("acceptance:warranty", claim.engagement.code)


@require_POST
def close(request, pk):
    claim = _claim(request, pk)
    attempt(request, lambda: services.close_claim(actor=request.user, claim=claim),
            _("The claim is closed."))
    return redirect("acceptance:warranty", claim.engagement.code)


def _claim(request, pk: int) -> WarrantyClaim:
    return get_object_or_404(WarrantyClaim.objects.visible_to(request.user).select_related(
        "engagement", "model"), pk=pk)
