"""Signing: terms and identification, then code and mark; order of signers; declining."""

from django.http import Http404
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from delivery.acceptance import services
from delivery.acceptance.forms import IdentifyForm, ReasonForm, SignersForm, SignForm
from delivery.acceptance.models import Review, Signature
from delivery.acceptance.services.identification import (
    MAX_ATTEMPTS,
    masked_address,
    open_identification,
)
from delivery.acceptance.signing import signing_terms
from delivery.acceptance.views.lookups import review_of
from delivery.acceptance.views.review import page
from delivery.acceptance.web import download, signature_origin
from delivery.reports.views import in_reading_order
from engagements.access import Can, allowed
from engagements.web.form_actions import attempt_form


@require_GET
def signing(request, pk):
    return _page(request, review_of(request, pk))


def _page(request, found, status: int = 200, **forms):
    if not allowed(request.user, Can.REVIEW):
        raise Http404
    user, document = request.user, found.document
    identification = open_identification(user, found)
    context = {
        "review": found, "document": document, "engagement": document.engagement,
        "files": in_reading_order(document.files.filter(format="pdf")),
        "terms": signing_terms.paragraphs(), "identification": identification,
        "attempts_left": MAX_ATTEMPTS - identification.attempts if identification else 0,
        "address": masked_address(user.email) if user.email else "",
        "identify_form": IdentifyForm(initial={"name": str(user),
                                               "capacity": user.localized_job_title}),
        "sign_form": SignForm(), **forms}
    return render(request, "delivery/acceptance/signing.html", context, status=status)


@require_POST
def identify(request, pk):
    found, form = review_of(request, pk), IdentifyForm(request.POST)
    if form.is_valid() and attempt_form(form, lambda: services.begin_signing(
            actor=request.user, review=found, ip_address=signature_origin(request)["ip_address"],
            **form.cleaned_data)):
        return redirect(reverse("acceptance:signing", args=[pk]) + "#id_code")
    return _page(request, found, 400, identify_form=form)


@require_POST
def review_sign(request, pk):
    found, form = review_of(request, pk), SignForm(request.POST, request.FILES)
    if form.is_valid():
        given = {name: form.cleaned_data[name] for name in ("code", "mark", "strokes", "scan")}
        if attempt_form(form, lambda: services.sign(
                actor=request.user, review=found, **given, **signature_origin(request))):
            return redirect("acceptance:review", pk)
    return _page(request, found, 400, sign_form=form)


@require_POST
def decline(request, pk):
    found, form = review_of(request, pk), ReasonForm(request.POST)
    if form.is_valid() and attempt_form(form, lambda: services.decline(
            actor=request.user, review=found, **form.cleaned_data)):
        return redirect("acceptance:review", pk)
    return page(request, found, 400, decline_form=form)


@require_POST
def signers(request, pk):
    found = review_of(request, pk)
    form = SignersForm(request.POST, review=found)
    if form.is_valid() and attempt_form(form, lambda: services.name_signers(
            actor=request.user, review=found, users=form.users())):
        return redirect("acceptance:review", pk)
    return page(request, found, 400, signers_form=form)


@require_GET
def scan(request, pk):
    """A stored scan as a download; uploaded content is never displayed inline."""
    found = get_object_or_404(Signature.objects.exclude(scan=""), pk=pk,
                              review__in=Review.objects.visible_to(request.user))
    return download(found.scan, found.scan_name)
