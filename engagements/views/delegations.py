"""Who stands in for whom, and until when."""

from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from engagements import services
from engagements.access import Can, require
from engagements.forms import DelegationForm
from engagements.models import Delegation
from engagements.web.form_actions import attempt, attempt_form


@require_http_methods(["GET", "POST"])
def delegations(request):
    require(request.user, Can.VIEW_INTERNAL)
    form = DelegationForm(request.POST or None, actor=request.user)
    if form.is_bound and form.is_valid() and attempt_form(form, lambda: services.delegate_duties(
            actor=request.user, **form.cleaned_data)):
        return redirect("people:delegations")
    return render(request, "engagements/delegations.html", {
        "form": form, "today": timezone.localdate(),
        "rows": Delegation.objects.visible_to(request.user).select_related("user", "delegate")},
        status=400 if form.is_bound else 200)


@require_POST
def delegation_end(request, pk):
    found = get_object_or_404(Delegation.objects.visible_to(request.user), pk=pk)
    attempt(request, lambda: services.end_delegation(actor=request.user, delegation=found),
            _("The delegation has ended."))
    return redirect("people:delegations")
