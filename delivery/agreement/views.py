"""The agreement of an engagement on one page: every fact with its source, and what is entered."""

from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from delivery.agreement import services
from delivery.agreement.forms import EnteredForm
from delivery.agreement.models import Agreement
from delivery.agreement.queries import agreement_of, offered
from delivery.agreement.serializers import fact_rows
from engagements.access import Can, allowed, require
from engagements.models import Engagement
from engagements.web.form_actions import attempt_form


@require_http_methods(["GET", "POST"])
def agreement(request, code):
    """The version in force, and for managers the draft of the next one."""
    engagement = get_object_or_404(Engagement.objects.visible_to(request.user), code=code)
    versions = list(Agreement.objects.visible_to(request.user).filter(engagement=engagement))
    if request.user.is_reviewer and not versions:  # the draft is the firm's
        return render(request, "delivery/agreement/agreement.html", {
            "engagement": engagement, "agreement": None, "draft": None, "form": None,
            "versions": []})
    form = None
    if request.method == "POST":
        require(request.user, Can.MANAGE, engagement)
        draft = services.draft_agreement(actor=request.user, engagement=engagement)
        form = EnteredForm(request.POST, agreement=draft)
        if form.is_valid() and attempt_form(form, lambda: services.enter_values(
                actor=request.user, agreement=draft, **form.cleaned_data)):
            return redirect("agreement:agreement", code)
    found = agreement_of(engagement)
    is_open = not found.is_in_force or any(row.state == row.State.DRAFT for row in versions)
    draft = offered(engagement) if is_open and allowed(request.user, Can.MANAGE) else None
    if draft and form is None:
        form = EnteredForm(agreement=draft)
    return render(request, "delivery/agreement/agreement.html", {
        "engagement": engagement, "agreement": found, "facts": fact_rows(
            found, has_prices=not request.user.is_auditor),
        "draft": draft if draft and found.is_in_force else None,
        "draft_facts": [row for row in fact_rows(draft) if row["value"] != found.value(row["name"])]
        if draft else [], "versions": versions, "form": form},
        status=400 if form and form.errors else 200)
