"""Test reports of accredited laboratories: a list, a form, and their withdrawal."""

from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from delivery.acceptance import services
from delivery.acceptance.forms import ThirdPartyReportForm
from delivery.acceptance.models import AcceptanceTerms, ThirdPartyReport
from engagements.access import Can, allowed, require
from engagements.models import Engagement
from engagements.web.form_actions import attempt, attempt_form
from workers.artifacts.artifact_store import is_intact


@require_http_methods(["GET", "POST"])
def third_party_reports(request, code):
    """What laboratories found; the team attaches it, the customer reads it."""
    engagement = get_object_or_404(Engagement.objects.visible_to(request.user), code=code)
    if request.method == "POST":
        require(request.user, Can.WORK, engagement)
    form = ThirdPartyReportForm(request.POST or None, request.FILES or None)
    if form.is_bound and form.is_valid() and attempt_form(
            form, lambda: services.attach_third_party_report(
                actor=request.user, engagement=engagement, **form.cleaned_data)):
        return redirect("acceptance:third_party_reports", code)
    rows = [(row, is_intact(row.artifact)) for row in engagement.third_party_reports
            .select_related("artifact", "recorded_by", "withdrawn_by")]
    terms = AcceptanceTerms.objects.filter(engagement=engagement).first()
    return render(request, "delivery/acceptance/third_party_reports.html", {
        "engagement": engagement, "form": form, "rows": rows,
        "is_asked_for": bool(terms and terms.needs_third_party),
        "may_attach": allowed(request.user, Can.WORK),
        "may_withdraw": allowed(request.user, Can.MANAGE)}, status=400 if form.is_bound else 200)


@require_POST
def withdraw(request, pk):
    found = get_object_or_404(ThirdPartyReport.objects.visible_to(request.user).select_related(
        "engagement"), pk=pk)
    attempt(request, lambda: services.withdraw_third_party_report(
        actor=request.user, report=found, reason=request.POST.get("reason", "")),
            _("The report is no longer part of the evidence."))
    return redirect("acceptance:third_party_reports", found.engagement.code)
