"""Pages of change requests; each view calls one service."""

from django.contrib import messages
from django.http import Http404
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET, require_POST

from delivery.planning.changes.change_facts import shown_facts
from delivery.planning.changes.change_labels import presented, scope_row, threshold_row
from delivery.planning.changes.scope_effects import scope_facts
from delivery.planning.changes.transitions import DUTIES, TRANSITIONS
from delivery.planning.forms.change import (
    AddedCriterionForm,
    ChangeForm,
    CriterionEffectForm,
    PriceEffectForm,
    ScheduleEffectForm,
    ScopeEffectForm,
)
from delivery.planning.models import ChangeProposal, ChangeRequest
from delivery.planning.serializers.change import ChangeResultSerializer, RejectionSerializer
from delivery.planning.services import added_criteria
from delivery.planning.services import change_drafts as effect_services
from delivery.planning.services import changes as services
from delivery.planning.services import scope_effects as scope_services
from engagements.access import Can, allowed
from engagements.duties import missing_people
from engagements.errors import DeskError
from engagements.moves import offered_moves
from engagements.web.form_actions import attempt, show_errors
from engagements.web.paging import page_of
from engagements.web.row_pages import EditRow, NewRow, posted, visible_engagement

AT_ONCE, FEW_PROPOSALS = 50, 10
# Kind of effect: its form, the service that sets one, where a change has its rows.
EFFECTS = {
    "scope": (lambda row, data: ScopeEffectForm(data, of=row),
              scope_services.set_scope, "scope_effects"),
    "schedule": (lambda row, data: ScheduleEffectForm(data, of=row.engagement),
                 effect_services.set_schedule_effect, "schedule_effects"),
    "criterion": (lambda row, data: CriterionEffectForm(data, engagement=row.engagement),
                  effect_services.set_criterion_effect, "criterion_effects"),
    "added": (lambda row, data: AddedCriterionForm(data, change=row),
              added_criteria.add_criterion, "added_criteria"),
    "price": (lambda row, data: PriceEffectForm(data, change=row),
              effect_services.set_price_effect, "price_effects"),
}


@require_GET
def changes(request, code):
    engagement = visible_engagement(request, code)
    rows = ChangeRequest.objects.visible_to(request.user).filter(
        engagement=engagement).select_related("engagement", "created_by")
    proposals = ChangeProposal.objects.visible_to(request.user).filter(
        engagement=engagement).select_related("engagement", "created_by")[:FEW_PROPOSALS + 1]
    return render(request, "delivery/planning/changes.html", {
        "engagement": engagement, "active": "changes", "page": page_of(rows, request.GET, AT_ONCE),
        "proposals": proposals[:FEW_PROPOSALS], "has_more": len(proposals) > FEW_PROPOSALS})


change_new = NewRow.as_view(
    tab="changes", page="planning:change", form_class=ChangeForm, service=services.create_change,
    title=_("New change request"), submit=_("Save the draft"))
change_edit = EditRow.as_view(
    tab="changes", page="planning:change", form_class=ChangeForm, service=services.update_change,
    row_name="change")


def _change(request, pk) -> ChangeRequest:
    return get_object_or_404(
        ChangeRequest.objects.visible_to(request.user).select_related(
            "engagement", "created_by", "firm_approved_by", "customer_approved_by",
            "rejected_by", "quote", "new_quote", "new_criteria__engagement",
            "new_baseline__plan__engagement",
            "new_estimate__engagement"), pk=pk)


@require_GET
def change(request, pk):
    """What it changes, before and after; why it could not come into force; a draft's forms."""
    row, user = _change(request, pk), request.user
    is_draft = row.state == ChangeRequest.State.DRAFT
    may_write = is_draft and allowed(user, Can.WORK)
    may_price = is_draft and row.quote_id and (may_write or allowed(user, Can.PRICE))
    facts, problem = _facts(row)
    prices = row.price_effects.select_related("line", "price")
    return render(request, "delivery/planning/change.html", {
        "facts": facts, "problem": problem,
        "missing_people": missing_people(DUTIES, row, user) if may_write else [],
        "change": row, "engagement": row.engagement, "active": "changes", "is_draft": may_write,
        "may_price": may_price, "moves": offered_moves(user, TRANSITIONS, row),
        "price_effects": prices,
        "listed_prices": [] if facts and facts["price"]["lines"] else prices,
        "scope_effects": [scope_row(found) for found in scope_facts(row)],
        "schedule_effects": row.schedule_effects.select_related("task__model"),
        "criterion_effects": [threshold_row(effect) for effect in
                              row.criterion_effects.select_related(
                                  "criterion__model", "criterion__definition")],
        "added_criteria": row.added_criteria.select_related("definition", "baseline", "artifact"),
        **{f"{kind}_form": make_form(row, None) if (may_price if kind == "price" else may_write)
           else None for kind, (make_form, _service, _rows) in EFFECTS.items()}})


def _facts(row: ChangeRequest) -> tuple[dict | None, str]:
    """What both sides sign in words; or why it could not come into force."""
    try:
        return presented(shown_facts(row)), ""
    except DeskError as error:
        return None, error.message


@require_POST
def change_effect(request, pk, kind):
    row = _change(request, pk)
    make_form, service, _rows = EFFECTS[kind]
    form = make_form(row, request.POST)
    if form.is_valid():
        warnings = attempt(request, lambda: service(
            actor=request.user, change=row, **form.cleaned_data), _("Saved."))
        _warn(request, warnings)
    else:
        show_errors(request, form)
    return redirect("planning:change", pk)


@require_POST
def change_price_scope(request, pk):
    row = _change(request, pk)
    warnings = attempt(request, lambda: scope_services.price_scope(actor=request.user, change=row),
                       _("The person-days were carried into the quote lines."))
    _warn(request, warnings)
    return redirect("planning:change", pk)


def _warn(request, warnings) -> None:
    """What pricing the scope could not do."""
    for sentence in warnings if isinstance(warnings, list) else []:
        messages.warning(request, sentence)


@require_POST
def change_effect_remove(request, pk, kind, effect):
    row = _change(request, pk)
    rows = getattr(row, EFFECTS[kind][-1])
    found = get_object_or_404(rows, pk=effect)
    attempt(request, lambda: effect_services.remove_effect(actor=request.user, effect=found),
            _("Removed."))
    return redirect("planning:change", pk)


# Move: service, what its form sends, the message then.
MOVES = {
    "submit": (services.submit_change, None, _("Submitted to both sides.")),
    "approve": (services.approve_change, None, _("Approved.")),
    "reject": (services.reject_change, RejectionSerializer, _("Rejected.")),
    "withdraw": (services.withdraw_change, None, _("Withdrawn; it is a draft again.")),
    "result": (services.record_result, ChangeResultSerializer, _("Saved.")),
}


@require_POST
def change_move(request, pk, move):
    row = _change(request, pk)
    if move not in MOVES:
        raise Http404
    service, takes, success = MOVES[move]
    attempt(request, lambda: service(
        actor=request.user, change=row, **posted(request, takes)), success)
    return redirect("planning:change", pk)
