"""Signing: one page with all that is signed, the code and the mark; order of signers; declining."""

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from delivery.acceptance import services
from delivery.acceptance.forms import (
    DelegateForm,
    IdentifyForm,
    ReasonForm,
    SignersForm,
    SignForm,
)
from delivery.acceptance.models import BlockerWaiver, Review, Signature
from delivery.acceptance.review.model_results import model_results
from delivery.acceptance.services.identification import (
    MAX_ATTEMPTS,
    known_capacity,
    masked_address,
    open_identification,
    passkey_request,
    require_signable,
    statement_hash,
    statement_of,
    valid_power,
)
from delivery.acceptance.signing import page_images, signing_terms
from delivery.acceptance.views.lookups import document_pages, review_of
from delivery.acceptance.views.review import page
from delivery.acceptance.web import download, signature_origin
from delivery.documents.bilingual import in_language
from delivery.reports.models import Document, DocumentFile
from delivery.sign_on.authenticator_app import has_authenticator_app
from delivery.sign_on.passkeys import has_passkey
from engagements.access import Can, allowed
from engagements.audit import download_log
from engagements.errors import DeskError, InvalidInput
from engagements.web.form_actions import attempt_form


@require_GET
def signing(request, pk):
    return _page(request, review_of(request, pk))


def _page(request, found, status: int = 200, **forms):
    if not allowed(request.user, Can.REVIEW):
        raise Http404
    user = request.user
    statement = _statement(request, found)
    identification = open_identification(user, found, statement["statement_hash"])
    power, why_not = _may_sign(user, found)
    known = known_capacity(user, found, power)
    context = {
        **statement, "identification": identification, "why_not": why_not,
        "power": power, "capacity": known, "terms": signing_terms.paragraphs(),
        "attempts_left": MAX_ATTEMPTS - identification.attempts if identification else 0,
        "has_app": has_authenticator_app(user), "has_passkey": has_passkey(user),
        "passkey_request": passkey_request(identification) if identification else None,
        "address": masked_address(user.email) if user.email else "",
        "identify_form": IdentifyForm(known=known), "sign_form": SignForm(),
        "decline_form": ReasonForm(),
        "delegate_form": DelegateForm(review=found, actor=user), **forms}
    return render(request, "delivery/acceptance/signing.html", context, status=status)


def _may_sign(user, found: Review):
    """The power of attorney under which the person may sign now, and why not if not."""
    try:
        return require_signable(user, found), ""
    except DeskError as error:
        return None, error.message


def _statement(request, found: Review) -> dict:
    """What is signed: the document and all that hangs on the decision."""
    document, facts = found.document, in_language(found.document.snapshot, request.LANGUAGE_CODE)
    decided = {row.model.code: row for row in found.model_decisions.select_related("model")}
    return {
        "review": found, "document": document, "engagement": document.engagement, "facts": facts,
        "decided_models": [(row, decided.get(row.code)) for row in model_results(found, facts)],
        "waivers": BlockerWaiver.objects.in_force(document.engagement),
        "conditions": found.conditions.select_related("model"),
        "comments": found.open_comments(), "missing": found.missing(),
        "owed": facts.get("missing_deliverables") if facts.get("is_owed_listed") else [],
        "statement_hash": statement_hash(statement_of(found)), **document_pages(found)}


@require_GET
def document_page_image(request, pk, number):
    """One page of a stored PDF as a picture; it never changes."""
    stored = get_object_or_404(
        DocumentFile.objects.select_related("document__engagement"), pk=pk, format="pdf",
        document__in=Document.objects.visible_to(request.user))
    try:
        answer = HttpResponse(page_images.page_image(stored, number), content_type="image/png")
    except InvalidInput as error:
        raise Http404 from error
    if number == 1:  # whoever looks at the document opens it: the log names it as a file
        answer["Content-Disposition"] = f'inline; filename="{stored.served_name}.png"'
        download_log.of(answer, stored.document)
    answer["Cache-Control"] = "private, max-age=86400, immutable"
    return answer


@require_POST
def identify(request, pk):
    found = review_of(request, pk)
    form = IdentifyForm(request.POST, known=known_capacity(
        request.user, found, valid_power(request.user, found, is_asked=False)))
    if form.is_valid() and attempt_form(form, lambda: services.begin_signing(
            actor=request.user, review=found, ip_address=signature_origin(request)["ip_address"],
            **form.cleaned_data)):
        return redirect(reverse("acceptance:signing", args=[pk]) + "#id_code")
    return _page(request, found, 400, identify_form=form)


@require_POST
def review_sign(request, pk):
    found, form = review_of(request, pk), SignForm(request.POST, request.FILES)
    if form.is_valid():
        given = {name: form.cleaned_data[name]
                 for name in ("code", "passkey", "mark", "strokes", "scan")}
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
    return _page(request, found, 400, decline_form=form)


@require_POST
def delegate(request, pk):
    found = review_of(request, pk)
    form = DelegateForm(request.POST, review=found, actor=request.user)
    if form.is_valid() and attempt_form(form, lambda: services.delegate(
            actor=request.user, review=found, **form.cleaned_data)):
        return redirect("acceptance:review", pk)
    return _page(request, found, 400, delegate_form=form)


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
