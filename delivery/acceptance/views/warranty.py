"""Claims under the warranty: a list with its forms; each write is one service call."""

from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from delivery.acceptance import services
from delivery.acceptance.certificates import certificate_in_force, warranty_period
from delivery.acceptance.forms import ClaimForm, RepairForm, StepForm, TrialIssueForm
from delivery.acceptance.models import Condition, WarrantyClaim
from delivery.acceptance.models.follow_up import reported_issues
from engagements.access import Can, allowed
from engagements.models import Engagement
from engagements.web.form_actions import attempt_form


@require_http_methods(["GET", "POST"])
def warranty(request, code):
    engagement = get_object_or_404(Engagement.objects.visible_to(request.user), code=code)
    form = ClaimForm(request.POST or None, request.FILES or None, engagement=engagement)
    if form.is_valid() and attempt_form(form, lambda: services.raise_claim(
            actor=request.user, engagement=engagement, **form.cleaned_data)):
        return redirect("acceptance:warranty", code)
    return page(request, engagement, 400 if form.errors else 200, form=form)


def page(request, engagement, status: int = 200, refused: StepForm | None = None, **forms):
    """Trial run, its conditions and issues, and claims under the warranty; `refused` is a step on
    one of them, `forms` are others that were refused."""
    certificate = certificate_in_force(engagement)
    trial = services.trial_of(engagement)
    claims = engagement.warranty_claims.select_related(
        "engagement", "model", "owner", "raised_by", "regression", "reported_by", "closed_by"
    ).prefetch_related("history__by")
    user = request.user
    may_work, may_review = allowed(user, Can.WORK), allowed(user, Can.REVIEW)
    return render(request, "delivery/acceptance/warranty.html", {
        "engagement": engagement, "certificate": certificate, "trial": trial,
        "conditions": Condition.objects.filter(review=trial, closed_at=None).select_related(
            "model") if trial else [],
        "issues": reported_issues().filter(engagement=engagement).select_related(
            "model", "owner").prefetch_related("history__by").order_by("-number"),
        "period": warranty_period(certificate.review) if hasattr(certificate, "review") else None,
        "claims": [(claim, _repair_form(claim, refused) if may_work and not claim.closed_at
                    else None) for claim in claims],
        "refused": refused,
        "form": ClaimForm(engagement=engagement),
        "issue_form": TrialIssueForm(engagement=engagement),
        "may_claim": may_work or may_review, "may_review": may_review, "may_work": may_work,
        **forms}, status=status)


def _repair_form(claim: WarrantyClaim, refused: StepForm | None) -> RepairForm:
    is_it = isinstance(refused, RepairForm) and refused.row == claim
    return refused if is_it else RepairForm(row=claim)
