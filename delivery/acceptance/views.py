"""The reviewer's page and the evidence bundle: doors that parse, call one service and answer."""

from django.http import FileResponse, Http404
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from delivery.acceptance import services
from delivery.acceptance.forms import CommentForm, ConditionFormSet, DecisionForm, SignForm
from delivery.acceptance.models import EvidenceBundle, Review
from delivery.reports.bilingual import in_language
from delivery.reports.models import Document
from delivery.reports.views import LANGUAGE_NAMES
from engagements.access import Can, allowed
from engagements.doors import attempt, attempt_form
from engagements.models import Engagement


def _review(request, pk: int) -> Review:
    return get_object_or_404(
        Review.objects.select_related("document__engagement__customer", "decided_by"),
        document__pk=pk, document__in=Document.objects.visible_to(request.user))


@require_GET
def review(request, pk):
    return _page(request, _review(request, pk))


def _page(request, found: Review, status: int = 200, **forms):
    document, can_review = found.document, allowed(request.user, Can.REVIEW)
    is_issued = document.state == Document.State.ISSUED
    signatures = list(found.signatures.select_related("signer"))
    is_signable = document.state in (Document.State.ISSUED, Document.State.SIGNED)
    has_signed = any(s.signer_id == request.user.pk for s in signatures)
    context = {
        "review": found, "document": document, "engagement": document.engagement,
        "facts": in_language(document.snapshot, request.LANGUAGE_CODE),
        "files": [(f, LANGUAGE_NAMES[f.language]) for f in document.files.all()],
        "comments": found.comments.select_related("author", "model"), "signatures": signatures,
        "conditions": found.conditions.all(), "is_open": is_issued,
        "may_decide": can_review and is_issued and not found.decision,
        "may_sign": can_review and is_signable and bool(found.decision) and not has_signed,
        "comment_form": CommentForm(engagement=document.engagement),
        "decision_form": DecisionForm(), "condition_forms": ConditionFormSet(prefix="conditions"),
        "sign_form": SignForm(initial={"name": request.user.full_name,
                                       "capacity": request.user.job_title}),
        **forms}
    return render(request, "delivery/acceptance/review.html", context, status=status)


@require_POST
def review_open(request, pk):
    document = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    done = attempt(request, lambda: services.open_review(actor=request.user, document=document),
                   _("The review is open; the customer's reviewers see the document."))
    return redirect("acceptance:review" if done else "reports:document", pk)


@require_POST
def review_comment(request, pk):
    found = _review(request, pk)
    form = CommentForm(request.POST, engagement=found.document.engagement)
    if form.is_valid() and attempt_form(form, lambda: services.comment(
            actor=request.user, review=found, **form.cleaned_data)):
        return redirect("acceptance:review", pk)
    return _page(request, found, 400, comment_form=form)


@require_POST
def review_decide(request, pk):
    found = _review(request, pk)
    form = DecisionForm(request.POST)
    rows = ConditionFormSet(request.POST, prefix="conditions")
    if form.is_valid() and rows.is_valid():
        conditions = [row for row in rows.cleaned_data if row]
        if attempt_form(form, lambda: services.decide(
                actor=request.user, review=found, conditions=conditions, **form.cleaned_data)):
            return redirect("acceptance:review", pk)
    return _page(request, found, 400, decision_form=form, condition_forms=rows)


@require_POST
def review_sign(request, pk):
    found = _review(request, pk)
    form = SignForm(request.POST)
    if form.is_valid() and attempt_form(form, lambda: services.sign(
            actor=request.user, review=found, name=form.cleaned_data["name"],
            capacity=form.cleaned_data["capacity"], ip_address=request.META.get("REMOTE_ADDR"))):
        return redirect("acceptance:review", pk)
    return _page(request, found, 400, sign_form=form)


@require_POST
def bundle_build(request, pk):
    document = get_object_or_404(
        Document.objects.visible_to(request.user).select_related("engagement"), pk=pk)
    attempt(request, lambda: services.build_bundle(
        actor=request.user, engagement=document.engagement, document=document),
        _("The evidence bundle is stored."))
    return redirect("reports:document", pk)


@require_GET
def bundle(request, pk):
    """A stored evidence bundle as a download."""
    found = get_object_or_404(EvidenceBundle.objects.select_related("document"), pk=pk,
                              engagement__in=Engagement.objects.visible_to(request.user))
    try:
        stream = found.file.open("rb")
    except OSError as error:
        raise Http404 from error
    return FileResponse(stream, as_attachment=True, content_type="application/zip",
                        filename=f"{found.document.number}-V{found.document.version}-evidence.zip")
