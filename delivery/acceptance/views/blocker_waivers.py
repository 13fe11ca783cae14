"""Waivers of what holds up the final acceptance: a list, a form, and the signature."""

from django.http import Http404
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST

from delivery.acceptance import services
from delivery.acceptance.forms import BlockerWaiverForm
from delivery.acceptance.models import BlockerWaiver
from delivery.acceptance.services.blocker_waivers import blockers_of
from engagements.access import Can, allowed, require
from engagements.models import Engagement
from engagements.web.form_actions import attempt, attempt_form

STEPS = {"sign": (services.sign_blocker_waiver, gettext_lazy("The waiver is signed.")),
         "revoke": (services.revoke_blocker_waiver, gettext_lazy("The waiver is revoked."))}


@require_http_methods(["GET", "POST"])
def blocker_waivers(request, code):
    """What holds up the final acceptance, and what the customer lets pass of it."""
    engagement = get_object_or_404(Engagement.objects.visible_to(request.user), code=code)
    if request.method == "POST":
        require(request.user, Can.MANAGE, engagement)
    blockers = blockers_of(engagement)
    form = BlockerWaiverForm(request.POST or None, blockers=blockers)
    if form.is_bound and form.is_valid() and attempt_form(
            form, lambda: services.draft_blocker_waiver(
                actor=request.user, engagement=engagement, **form.cleaned_data)):
        return redirect("acceptance:blocker_waivers", code)
    return render(request, "delivery/acceptance/blocker_waivers.html", {
        "engagement": engagement, "form": form, "blockers": blockers,
        "rows": engagement.blocker_waivers.select_related("drafted_by", "signed_by", "revoked_by"),
        "may_manage": allowed(request.user, Can.MANAGE),
        "may_sign": allowed(request.user, Can.REVIEW)}, status=400 if form.is_bound else 200)


@require_POST
def blocker_waiver_step(request, pk, step):
    found = get_object_or_404(BlockerWaiver.objects.visible_to(request.user).select_related(
        "engagement"), pk=pk)
    if step not in STEPS:
        raise Http404
    service, done = STEPS[step]
    attempt(request, lambda: service(actor=request.user, waiver=found), done)
    return redirect("acceptance:blocker_waivers", found.engagement.code)
