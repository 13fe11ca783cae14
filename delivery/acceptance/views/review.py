"""The review page and its form actions: comments, receipts, decision, outstanding issues."""

from collections import Counter

from django.contrib import messages
from django.db.models import prefetch_related_objects
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from delivery.acceptance import services
from delivery.acceptance.forms import (
    CommentForm,
    ConditionFormSet,
    DecisionForm,
    ModelDecisionFormSet,
    NoticeForm,
    ReceiptForm,
    SignersForm,
)
from delivery.acceptance.models import Review, ReviewComment
from delivery.acceptance.review.deliverables import deliverables_of
from delivery.acceptance.review.model_results import (
    carried_over_conditions,
    carried_over_decisions,
    model_results,
    owner_of,
)
from delivery.acceptance.review.progress import review_steps
from delivery.acceptance.review.transitions import TRANSITIONS, ReviewAction
from delivery.acceptance.services.decisions import DECISION_REPLACED, models_by_code
from delivery.acceptance.services.deemed_acceptance import deemed_day
from delivery.acceptance.services.signed_copies import copy_format
from delivery.acceptance.views.lookups import document_pages, review_of
from delivery.documents.bilingual import in_language
from delivery.reports.decision_summary import picture
from delivery.reports.models import Document
from delivery.reports.views import in_reading_order
from engagements.access import Can, allowed
from engagements.duties import members_of
from engagements.models import AuditEntry, User
from engagements.moves import allowed_moves, offered_moves
from engagements.web.form_actions import attempt, attempt_form


@require_GET
def review(request, pk):
    return page(request, review_of(request, pk))


def page(request, found: Review, status: int = 200, **forms):
    """The whole page; `forms` are those that were refused."""
    context = {**_facts(request, found), **_people(request, found), **_contract(found),
               **_forms(found, request.user), **forms}
    by_code = {form["model"].value(): form for form in context["model_forms"]}
    context["model_rows"] = [(row, by_code[row.code]) for row in context["model_results"]
                             if row.code in by_code]
    given = context["receipt_form"].cleaned_data if "receipt_form" in forms else {}
    context["deliverable_rows"] = [
        (item, item.key in given.get("keys", []), given.get("missing", {}).get(item.key, ""))
        for item in context["deliverables"]]
    return render(request, "delivery/acceptance/review.html", context, status=status)


def _facts(request, found: Review) -> dict:
    document, form = found.document, copy_format(found)
    files = list(document.files.select_related("seal"))
    remarks, deliverables = _remarks(request, found), deliverables_of(found, request.LANGUAGE_CODE)
    facts = in_language(document.snapshot, request.LANGUAGE_CODE)
    return {
        "is_sealing": bool(form) and form not in {f.format for f in files},
        "review": found, "document": document, "engagement": document.engagement,
        "facts": facts, "model_results": model_results(found, facts), "picture": picture(facts),
        **document_pages(found), "files": in_reading_order(files),
        "seals": [f for f in files if hasattr(f, "seal")],
        **remarks, "deliverables": deliverables,
        "is_awaited": any(not item.is_received for item in deliverables),
        "owed": facts.get("missing_deliverables") if facts.get("is_owed_listed") else [],
        "steps": review_steps(found, deliverables, remarks["open_comments"]),
        "model_decisions": sorted(found.model_decisions.select_related("model"), key=lambda row: (
            row.decision == Review.Decision.ACCEPTED)),
        "replaced_decisions": _replaced_decisions(found),
        "conditions": found.conditions.select_related(
            "model", "reported_by", "closed_by").prefetch_related("history__by"),
        "is_open": document.state == Document.State.ISSUED,
        "holding": document.holding_version,
        "previous": document.replaces if hasattr(document.replaces, "review") else None,
    }


def _replaced_decisions(found: Review) -> list[dict]:
    """Decisions that a colleague of who had made them replaced, from the log: a review keeps the
    last one alone."""
    entries = list(AuditEntry.objects.filter(
        action=DECISION_REPLACED, engagement=found.engagement, target_type=found._meta.label_lower,
        target_id=f"{found.pk}").select_related("actor").order_by("pk"))
    names = {user.username: user for user in User.objects.filter(
        username__in={entry.data["of"] for entry in entries})} if entries else {}
    labels = dict(Review.Decision.choices)
    return [{"at": entry.at, "by": entry.actor, "of": names.get(entry.data["of"], entry.data["of"]),
             "before": entry.data["before"], "before_label": labels.get(entry.data["before"], ""),
             "reason": entry.data.get("reason", ""),  # older entries hold none
             "label": labels.get(entry.data["decision"], "")} for entry in entries]


def _remarks(request, found: Review) -> dict:
    """Exchanges with their answers, and how many there are about each criterion."""
    rows = list(found.comments.visible_to(request.user).select_related(
        "author", "model", "criterion__definition", "criterion__model", "resolved_by"))
    replies = [row for row in rows if row.answers_id]
    first = [row for row in rows if not row.answers_id]
    counts = Counter(row.criterion_id for row in first if not row.resolved_at)
    for row in first:
        row.exchange = [reply for reply in replies if reply.answers_id == row.pk]
        row.may_resolve = row.resolved_at is None and (
            request.user.is_reviewer or not row.author.is_reviewer)
    return {"comments": first, "open_comments": sum(counts.values()),
            "remarked": {key: n for key, n in counts.items() if key}}


def _people(request, found: Review) -> dict:
    prefetch_related_objects([found], "signatures__signer", "signers__user")
    actions = offered_moves(request.user, TRANSITIONS, found)
    return {"signatures": found.signatures.all(), "signers": found.signers.all(),
            "actions": actions, "may_confirm": allowed(request.user, Can.REVIEW),
            "may_prove": ReviewAction.NOTICE in actions and not found.decision
            and bool(found.terms.get("is_deemed"))}


def _contract(found: Review) -> dict:
    last = deemed_day(found)
    return {"terms": found.terms, "proofs": found.notice_proofs.all(), "deemed_day": last,
            "is_deemed_day_past": last is not None and timezone.localdate() > last}


def _forms(found: Review, user) -> dict:
    codes = list(models_by_code(found))
    return {
        "comment_form": CommentForm(review=found, user=user),
        "decision_form": DecisionForm(initial={
            "decision": found.decision, "reason": found.reason, "retest_on": found.retest_on}),
        "model_forms": ModelDecisionFormSet(
            prefix="models", initial=_offered(found, codes)),
        "condition_forms": ConditionFormSet(prefix="conditions", form_kwargs=_choices(found, codes),
                                            initial=_issues(found)),
        "signers_form": SignersForm(review=found), "notice_form": NoticeForm()}


def _offered(found: Review, codes: list[str]) -> list[dict]:
    """Models with what was decided: on this version, else on the one before where nothing has
    changed since."""
    decided = {row.model.code: row for row in found.model_decisions.select_related("model")
               } or carried_over_decisions(found)
    return [{"model": code, "decision": decided[code].decision, "reason": decided[code].reason}
            if code in decided else {"model": code} for code in codes]


def _choices(found: Review, codes: list[str]) -> dict:
    return {"codes": codes, "people": list(members_of(found.engagement))}


def _issues(found: Review) -> list[dict]:
    """Outstanding issues to begin with: of this decision, else those carried over."""
    if not found.decision:
        return carried_over_conditions(found)
    return [{**owner_of(row), "description": row.description, "due_on": row.due_on,
             "effect": row.effect, "model": row.model.code if row.model else ""}
            for row in found.conditions.select_related("model", "owner_user")]


@require_POST
def review_open(request, pk):
    document = get_object_or_404(Document.objects.visible_to(request.user), pk=pk)
    done = attempt(request, lambda: services.open_review(actor=request.user, document=document),
                   _("Review opened; the customer's reviewers can see the document."))
    return redirect("acceptance:review" if done else "reports:document", pk)


@require_POST
def review_comment(request, pk):
    found = review_of(request, pk)
    form = CommentForm(request.POST, review=found, user=request.user)
    if form.is_valid() and attempt_form(form, lambda: services.comment(
            actor=request.user, review=found, **form.cleaned_data)):
        return redirect("acceptance:review", pk)
    return page(request, found, 400, comment_form=form)


@require_POST
def comment_resolve(request, pk):
    found = get_object_or_404(
        ReviewComment.objects.visible_to(request.user).select_related(
            "review__document__engagement", "author"),
        pk=pk, review__in=Review.objects.visible_to(request.user))
    attempt(request, lambda: services.resolve_comment(actor=request.user, comment=found),
            _("Comment resolved."))
    return redirect(reverse("acceptance:review", args=[found.review.document_id]) + "#comments")


@require_POST
def review_receipt(request, pk):
    found, form = review_of(request, pk), ReceiptForm(request.POST)
    if form.is_valid() and attempt_form(form, lambda: services.confirm_receipt(
            actor=request.user, review=found, **form.cleaned_data)):
        messages.success(request, _("Recorded with your name and the time."))
        return redirect(reverse("acceptance:review", args=[pk]) + "#deliverables")
    return page(request, found, 400, receipt_form=form)


@require_POST
def review_decide(request, pk):
    found = review_of(request, pk)
    form = DecisionForm(request.POST)
    rows = ConditionFormSet(request.POST, prefix="conditions",
                            form_kwargs=_choices(found, list(models_by_code(found))))
    models = ModelDecisionFormSet(request.POST, prefix="models")
    if all([form.is_valid(), rows.is_valid(), models.is_valid()]):
        named = [row for row in models.cleaned_data if row.get("decision")]
        if _says_which(form, models.cleaned_data) and attempt_form(form, lambda: services.decide(
                actor=request.user, review=found, models=named,
                conditions=[row for row in rows.cleaned_data if row], **form.cleaned_data)):
            return redirect(_after_decision(request.user, found), pk)
    return page(request, found, 400, decision_form=form, condition_forms=rows,
                model_forms=models)


def _after_decision(user, found: Review) -> str:
    """The page of what comes next: whoever decided and may sign now does so."""
    found.refresh_from_db()
    may_sign = ReviewAction.SIGN in allowed_moves(user, TRANSITIONS, found)
    return "acceptance:signing" if may_sign else "acceptance:review"


def _says_which(form, models: list[dict]) -> bool:
    """A page never lets a rejection of the whole fall upon models that nobody marked."""
    open_ones = [row["model"] for row in models if not row.get("decision")]
    is_rejected = form.cleaned_data["decision"] == Review.Decision.REJECTED
    if not is_rejected or not open_ones or len(models) < 2:
        return True
    form.add_error(None, _("Mark each model before you reject the whole; not marked yet: "
                           "%(models)s.") % {"models": ", ".join(open_ones)})
    return False
