"""Page of the firm's own particulars."""

from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from delivery.documents.forms import CompanyForm
from delivery.documents.models import CompanyProfile
from delivery.documents.services.company import save_company
from engagements.access import Can, require
from engagements.web.form_actions import attempt_form


@require_http_methods(["GET", "POST"])
def company(request):
    require(request.user, Can.MANAGE)
    form = CompanyForm(request.POST or None, instance=CompanyProfile.current())
    if form.is_valid() and attempt_form(form, lambda: save_company(
            actor=request.user, **form.cleaned_data)):
        return redirect("documents:company")
    return render(request, "delivery/documents/company.html", {"form": form})
