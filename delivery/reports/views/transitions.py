"""Steps of a document's life: each view takes a form, calls one service and reports the result."""

from collections.abc import Callable
from typing import Any

from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from delivery.reports import services
from delivery.reports.approvals import approval_chain
from delivery.reports.views.common import visible_document
from engagements.web.form_actions import attempt


def _view_of(service: Callable[..., Any], success: str, word: str = "") -> Callable:
    """A view of a service; `word` names the field whose text the service takes, if it takes one."""

    @require_POST
    def view(request, pk):
        document = visible_document(request, pk)
        words = {word: request.POST.get(word, "")} if word else {}
        attempt(request, lambda: service(actor=request.user, document=document, **words), success)
        return redirect("reports:document", pk)

    return view


def _passing_on(service: Callable[..., Any], success: str) -> Callable:
    """A view of a service that puts a colleague into the chain."""

    @require_POST
    def view(request, pk):
        document = visible_document(request, pk)
        colleague = get_object_or_404(approval_chain.colleagues(document),
                                      pk=request.POST.get("colleague") or 0)
        attempt(request, lambda: service(
            actor=request.user, document=document, colleague=colleague,
            reason=request.POST.get("reason", "")), success)
        return redirect("reports:document", pk)

    return view


refresh = _view_of(services.refresh_draft, gettext_lazy("Data refreshed."))
submit = _view_of(services.submit_document, gettext_lazy("Submitted for review."))
review = _view_of(services.review_document,
                  gettext_lazy("Reviewed; it can be approved and issued now."), "comment")
send_back = _view_of(services.send_back_document, gettext_lazy("Sent back to its author."),
                     "reason")
recall = _view_of(services.recall_document, gettext_lazy("Withdrawn; it is a draft again."))
issue = _view_of(services.order_issue,
                 gettext_lazy("Approved: numbered and frozen. Its files are being generated."))
withdraw = _view_of(services.withdraw_document,
                    gettext_lazy("Withdrawn. It stays readable and is marked."), "reason")
repeat = _view_of(services.requeue_render_jobs, gettext_lazy("The files are being regenerated."))
preview_order = _view_of(services.order_preview, gettext_lazy("The preview is being generated."))
hand_over = _passing_on(services.hand_over_review, gettext_lazy("Handed over."))
co_sign = _passing_on(services.add_co_signer, gettext_lazy("Co-signature requested."))


@require_POST
def discard(request, pk):
    document = visible_document(request, pk)
    done = attempt(request, lambda: services.discard_draft(
        actor=request.user, document=document), _("Draft discarded."))
    return redirect("reports:engagement", document.engagement.code) if done else redirect(
        "reports:document", pk)


@require_POST
def correct(request, pk):
    document = visible_document(request, pk)
    made = attempt(request, lambda: services.draft_correction(
        actor=request.user, document=document, reason=request.POST.get("reason", "")),
                   _("A draft of the next version; this version stays as it is."))
    return redirect("reports:document", made.pk if made else pk)
