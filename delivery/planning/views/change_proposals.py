"""Pages of change proposals: the customer's form, and the firm's answer."""

from django.http import Http404
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from delivery.planning.changes.proposal_transitions import TRANSITIONS, ProposalMove
from delivery.planning.forms.change import ChangeForm, ChangeProposalForm
from delivery.planning.models import ChangeProposal, ChangeRequest
from delivery.planning.serializers.change_proposal import (
    ProposalAnswerSerializer,
    ProposalReasonSerializer,
)
from delivery.planning.services import change_proposals as services
from engagements.access import Can
from engagements.moves import offered_moves, require_move
from engagements.web.form_actions import attempt, attempt_form
from engagements.web.paging import page_of
from engagements.web.row_pages import NewRow, form_page, posted, visible_engagement


@require_GET
def proposals(request, code):
    engagement = visible_engagement(request, code)
    rows = ChangeProposal.objects.visible_to(request.user).filter(
        engagement=engagement).select_related("engagement", "created_by")
    return render(request, "delivery/planning/change_proposals.html", {
        "engagement": engagement, "active": "changes", "page": page_of(rows, request.GET, 50)})


proposal_new = NewRow.as_view(
    tab="changes", page="planning:proposal", can=Can.REVIEW, form_class=ChangeProposalForm,
    service=services.raise_proposal, title=_("Propose a change"),
    submit=_("Send to the supplier"))


@require_GET
def proposal(request, pk):
    row = _proposal(request, pk)
    change = ChangeRequest.objects.visible_to(request.user).filter(pk=row.change_id).first()
    return render(request, "delivery/planning/change_proposal.html", {
        "proposal": row, "engagement": row.engagement, "active": "changes", "change": change,
        "moves": offered_moves(request.user, TRANSITIONS, row)})


@require_http_methods(["GET", "POST"])
def proposal_convert(request, pk):
    """The form of a change request with what the proposal says."""
    row = _proposal(request, pk)
    require_move(request.user, TRANSITIONS, row, ProposalMove.CONVERT)
    form = ChangeForm(request.POST or None, of=row.engagement,
                      initial=services.change_fields(row))
    if form.is_valid():
        made = attempt_form(form, lambda: services.convert_proposal(
            actor=request.user, proposal=row, **form.cleaned_data))
        if made:
            return redirect("planning:change", made.pk)
    return form_page(request, form, row.engagement, tab="changes", title=_("New change request"),
                     back=reverse("planning:proposal", args=[pk]), submit=_("Save the draft"))


# Move: service, what its form sends, the message then.
MOVES = {
    "answer": (services.answer_proposal, ProposalAnswerSerializer, _("Answered.")),
    "decline": (services.decline_proposal, ProposalReasonSerializer, _("Declined.")),
    "withdraw": (services.withdraw_proposal, None, _("Withdrawn.")),
}


@require_POST
def proposal_move(request, pk, move):
    row = _proposal(request, pk)
    if move not in MOVES:
        raise Http404
    service, takes, success = MOVES[move]
    attempt(request, lambda: service(
        actor=request.user, proposal=row, **posted(request, takes)), success)
    return redirect("planning:proposal", pk)


def _proposal(request, pk: int) -> ChangeProposal:
    return get_object_or_404(ChangeProposal.objects.visible_to(request.user).select_related(
        "engagement__customer", "created_by", "answered_by", "model"), pk=pk)
