"""The contract's terms of acceptance, proof of notice, deemed acceptance."""

from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from delivery.acceptance import services
from delivery.acceptance.forms import NoticeForm, TermsForm
from delivery.acceptance.models import AcceptanceTerms, NoticeProof, Review
from delivery.acceptance.views.lookups import review_of
from delivery.acceptance.views.review import page
from delivery.acceptance.web import download
from engagements.access import Can, require
from engagements.models import Engagement
from engagements.web.form_actions import attempt, attempt_form


@require_http_methods(["GET", "POST"])
def contract_terms(request, code):
    """What the contract of an engagement says; project managers record it."""
    engagement = get_object_or_404(Engagement.objects.visible_to(request.user), code=code)
    require(request.user, Can.MANAGE, engagement)
    stored = AcceptanceTerms.objects.filter(engagement=engagement).first()
    form = TermsForm(request.POST or None, instance=stored)
    if request.method == "POST" and form.is_valid() and attempt_form(
            form, lambda: services.set_terms(actor=request.user, engagement=engagement,
                                             **form.cleaned_data)):
        return redirect("reports:engagement", code)
    return render(request, "delivery/acceptance/contract_terms.html",
                  {"engagement": engagement, "form": form},
                  status=400 if form.is_bound else 200)


@require_POST
def notice(request, pk):
    found, form = review_of(request, pk), NoticeForm(request.POST, request.FILES)
    if form.is_valid() and attempt_form(form, lambda: services.record_notice(
            actor=request.user, review=found, **form.cleaned_data)):
        return redirect("acceptance:review", pk)
    return page(request, found, 400, notice_form=form)


@require_POST
def deemed(request, pk):
    found = review_of(request, pk)
    attempt(request, lambda: services.record_deemed_acceptance(
        actor=request.user, review=found),
            _("Recorded: deemed accepted under the contract. The customer has been notified."))
    return redirect("acceptance:review", pk)


@require_GET
def notice_file(request, pk):
    found = get_object_or_404(NoticeProof.objects.exclude(file=""), pk=pk,
                              review__in=Review.objects.visible_to(request.user))
    return download(found.file, found.file_name)
