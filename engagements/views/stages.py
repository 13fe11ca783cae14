"""Pages of a model's stage: gate, checklist, moves, waivers."""

from django.http import HttpRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from engagements import evidence_references, queries, services
from engagements.access import Can, allowed
from engagements.gates import evaluate, seen_by
from engagements.involvement import involvement_in
from engagements.models import (
    ChecklistItem,
    StageAssignment,
    StageComment,
    StageRecord,
    StageTransition,
    StageWaiver,
    User,
)
from engagements.moves import allowed_moves
from engagements.stage_forms import STAGE_FORMS
from engagements.stages import (
    TRANSITIONS,
    Stage,
    StageMove,
    StageState,
)
from engagements.web.form_actions import attempt, state_reached


def record_of_page(request: HttpRequest, code: str, model_code: str, stage: str) -> StageRecord:
    """The stage that the address names; 404 for strangers."""
    return get_object_or_404(
        StageRecord.objects.visible_to(request.user).select_related("model__engagement__customer"),
        model__engagement__code=code, model__code=model_code, stage=stage)


@require_GET
def stage_page(request, code, model_code, stage):
    record = record_of_page(request, code, model_code, stage)
    checks = seen_by(evaluate(record) if record.state != StageState.SKIPPED else [], request.user)
    waivers = list(record.waivers.select_related("drafted_by", "signed_by", "revoked_by"))
    moves = offered_moves(request.user, record)
    return render(request, "engagements/stage.html", {
        "record": record, "engagement": record.engagement, "model": record.model,
        "given": StageAssignment.objects.filter(record=record).select_related("person").first(),
        "records": record.model.stages.select_related("model__engagement"),
        "checks": checks, "moves": moves, "waits_for": waits_for(record),
        "form_lines": _form_lines(stage), "items": _items(record),
        "let_through": {code for w in waivers if w.signed_at and not w.revoked_at
                        for code in w.codes},
        "waivers": [{"waiver": w, "may_sign": services.may_sign(request.user, w)}
                    for w in waivers],
        "may_waive": _may_waive(request.user, record, checks, waivers),
        "involvement": involvement_in(record, request.user) if any(
            move["is_decision"] for move in moves) else [],
        "history": history_of(request.user, record),
        "jobs": record.model.jobs.whole().filter(stage=stage).select_related("node", "model")[:20]})


def history_of(user: User, record: StageRecord) -> list[StageTransition | StageComment]:
    """Moves and, for the firm's people, comments; the newest first."""
    entries = list(record.transitions.select_related("actor", "agent"))
    if allowed(user, Can.VIEW_INTERNAL):
        entries += record.comments.select_related("author", "agent")
    return sorted(entries, key=lambda entry: entry.at, reverse=True)


def _form_lines(stage: str) -> list[tuple]:
    """The stage's form as (heading, lines)."""
    form = STAGE_FORMS[stage]
    return [(_("Activities"), form.activities), (_("Inputs"), form.inputs),
            (_("Outputs"), form.outputs), (_("Exit criteria"), form.exit),
            (_("Typical risks"), form.risks), (_("Tools"), form.tools)]


def _items(record: StageRecord) -> list[dict]:
    """Checklist items with what their evidence names."""
    return [{"item": item, "evidence": evidence_references.shown(record.engagement, item.evidence)
             if item.evidence else None}
            for item in record.checklist.select_related("done_by")]


def offered_moves(user: User, record: StageRecord) -> list[dict]:
    """The buttons: moves that need no reason first; no start before the stage's turn."""
    is_early = waits_for(record) is not None
    offered = [{"move": move, "label": StageMove(move).label,
                "needs_reason": TRANSITIONS[move].needs_reason,
                "is_decision": TRANSITIONS[move].is_decision,
                "is_way_back": bool(TRANSITIONS[move].takes_back)}
               for move in allowed_moves(user, TRANSITIONS, record)
               if not (is_early and move == StageMove.START)]
    return sorted(offered, key=lambda entry: entry["needs_reason"])


def waits_for(record: StageRecord) -> StageRecord | None:
    """The earlier stage that keeps a stage from being started."""
    return services.first_open_before(record) if record.state == StageState.NOT_STARTED else None


def _may_waive(user: User, record: StageRecord, checks: list, waivers: list[StageWaiver]) -> bool:
    """Whether the form for a waiver is shown: no open one names all that is missing."""
    missing = {check.code for check in checks if not check.is_met}
    named = next((waiver.codes for waiver in waivers if not waiver.revoked_at), frozenset())
    return (record.state == StageState.SUBMITTED and record.stage != Stage.ACCEPT
            and allowed(user, Can.MANAGE) and bool(missing - named))


@require_POST
def stage_move(request, code, model_code, stage):
    record = record_of_page(request, code, model_code, stage)
    move = request.POST.get("move", "")
    if move in StageMove.values:
        attempt(request, lambda: services.move_stage(
            actor=request.user, record=record, move=move,
            comment=request.POST.get("comment", "")), lambda: state_reached(record),
                undo=lambda made: undo_of_moves([made]))
    if request.POST.get("back") == "matrix":
        return redirect(queries.place_in_matrix(record))
    return redirect("engagements:stage", code, model_code, stage)


def undo_of_moves(made: list[StageTransition]) -> tuple[str, dict] | None:
    """What takes the moves back together; None where one of them cannot be taken back."""
    if not made or not all(map(services.can_be_undone, made)):
        return None
    return "stage.move", {"transitions": [transition.pk for transition in made]}


@require_POST
def item_tick(request, code, model_code, stage, pk):
    record = record_of_page(request, code, model_code, stage)
    item = get_object_or_404(ChecklistItem, pk=pk, record=record)
    attempt(request, lambda: services.tick_item(
        actor=request.user, item=item, is_done=request.POST.get("done") == "yes",
        evidence=request.POST.get("evidence", "")), _("Saved."), undo=lambda made: (
            "checklist.tick", {"item": made.pk, "done_at": made.done_at.isoformat()})
        if made.done_at else None)
    return redirect("engagements:stage", code, model_code, stage)


@require_POST
def waiver_draft(request, code, model_code, stage):
    record = record_of_page(request, code, model_code, stage)
    attempt(request, lambda: services.draft_stage_waiver(
        actor=request.user, record=record, reason=request.POST.get("reason", ""),
        checks=request.POST.getlist("check")), _("Waiver drafted; someone else has to sign it."))
    return redirect("engagements:stage", code, model_code, stage)


@require_POST
def waiver_end(request, code, model_code, stage, pk, way):
    """Sign or revoke a waiver."""
    record = record_of_page(request, code, model_code, stage)
    waiver = get_object_or_404(StageWaiver, pk=pk, record=record)
    service = {"sign": services.sign_stage_waiver, "revoke": services.revoke_stage_waiver}[way]
    attempt(request, lambda: service(actor=request.user, waiver=waiver), _("Done."))
    return redirect("engagements:stage", code, model_code, stage)
