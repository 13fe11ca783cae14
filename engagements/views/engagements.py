"""Pages of engagements: each parses its request, calls one service and answers."""

from django.contrib import messages
from django.http import HttpRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from engagements import queries, services
from engagements.access import Can, allowed, require
from engagements.assignment_remarks import show_remarks
from engagements.forms import EngagementForm, MemberForm, ModelFactsForm, ModelForm
from engagements.models import (
    Engagement,
    Membership,
    Role,
    StageRecord,
    StageTransition,
    User,
)
from engagements.moves import has_permission
from engagements.search_index import pages_of
from engagements.stages import BULK_MOVES, TRANSITIONS, Scope, StageMove, StageState
from engagements.web.form_actions import attempt, attempt_form
from engagements.web.paging import page_of


def visible_engagement(request: HttpRequest, code: str) -> Engagement:
    """The engagement of that code, or 404 for a stranger."""
    return get_object_or_404(
        Engagement.objects.visible_to(request.user).select_related("customer"), code=code)


@require_GET
def engagement_list(request):
    """The list of the customer's people and auditors; the firm's has owners, money and views."""
    if not request.user.is_outside:
        return redirect(f"{reverse('portal:portfolio')}?{request.GET.urlencode()}")
    found = queries.filtered(Engagement.objects.visible_to(request.user), request.GET)
    page = page_of(queries.with_progress(found), request.GET, 25, pages_of(request.GET))
    return render(request, "engagements/list.html", {
        "page": page, "scopes": Scope.choices, "states": Engagement.State.choices})


@require_http_methods(["GET", "POST"])
def engagement_new(request):
    require(request.user, Can.BEGIN)
    form = EngagementForm(request.POST or None, creator=request.user)
    if form.is_valid():
        made = attempt_form(form, lambda: _create(request.user, dict(form.cleaned_data)))
        if made:
            if allowed(request.user, Can.MANAGE):
                messages.success(request, _("%(code)s is created. Now add its models.")
                                 % {"code": made.code})
                return redirect("engagements:model_new", made.code)
            messages.success(request, _("%(code)s is created. Draft its quote; a manager adds the "
                                        "models and the team.") % {"code": made.code})
            return redirect("engagements:engagement", made.code)
    return render(request, "engagements/form.html", {"form": form})


def _create(user, data: dict) -> Engagement:
    name = data.pop("new_customer", "")
    if not data["customer"]:
        data["customer"] = services.create_customer(actor=user, name=name)
    return services.create_engagement(actor=user, **data)


@require_http_methods(["GET", "POST"])
def engagement_edit(request, code):
    engagement = visible_engagement(request, code)
    require(request.user, Can.MANAGE, engagement)
    form = EngagementForm(request.POST or None, instance=engagement)
    if form.is_valid():
        stored = Engagement.objects.get(pk=engagement.pk)
        if attempt_form(form, lambda: services.update_engagement(
                actor=request.user, engagement=stored, **form.cleaned_data)):
            return redirect("engagements:engagement", code)
    return render(request, "engagements/form.html", {"form": form, "engagement": engagement})


@require_GET
def engagement_page(request, code):
    engagement = visible_engagement(request, code)
    page = page_of(engagement.models.all(), request.GET, queries.MODELS_PER_PAGE)
    matrix = queries.matrix(page.object_list)
    return render(request, "engagements/engagement.html", {
        "engagement": engagement, "active": "overview", "page": page,
        "matrix": matrix,
        "summary": queries.stage_summary(engagement), "stage_states": list(StageState),
        "stage_moves": _stage_moves(request.user, matrix),
        "team": engagement.memberships.exclude(role=Role.REVIEWER).select_related("user"),
        "transitions": StageTransition.objects.filter(
            record__model__engagement=engagement).select_related(
            "actor", "agent", "record__model__engagement")[:12]})


def _stage_moves(user: User, matrix: list[dict]) -> list[StageMove]:
    """Moves offered for several stages of the matrix; a start only where a stage has its turn."""
    if not allowed(user, Can.VIEW_INTERNAL):
        return []
    can_start = any(record.state in TRANSITIONS[StageMove.START].sources and not record.is_early
                    for row in matrix for record in row["records"])
    return [move for move in BULK_MOVES if has_permission(user, TRANSITIONS[move])
            and (can_start or move != StageMove.START)]


@require_http_methods(["GET", "POST"])
def team(request, code):
    engagement = visible_engagement(request, code)
    require(request.user, Can.VIEW_INTERNAL, engagement)
    form = MemberForm(request.POST or None, engagement=engagement,
                      text=request.GET.get("q", ""))
    if form.is_valid() and attempt_form(form, lambda: services.add_members(
            actor=request.user, engagement=engagement, users=form.cleaned_data["user"],
            role=form.cleaned_data["role"])):
        show_remarks(request, *form.cleaned_data["user"])
        return redirect("engagements:team", code)
    return render(request, "engagements/team.html", {
        "engagement": engagement, "active": "team", "form": form,
        "members": engagement.memberships.select_related("user")})


@require_POST
def assign(request, code):
    """Give the chosen stages of the matrix to a person, or to nobody."""
    engagement = visible_engagement(request, code)
    records = _chosen(request, engagement)
    chosen = request.POST.get("person", "")
    person = engagement.memberships.filter(user=chosen).first() if chosen.isdecimal() else None
    if not records:
        messages.warning(request, _("Select stages in the matrix first."))
    else:
        done = attempt(request, lambda: services.assign_stages(
            actor=request.user, records=records, person=person and person.user,
            note=request.POST.get("comment", "")), lambda: _assigned(records, person),
                       undo=_assignments_back)
        if done:
            show_remarks(request, person and person.user)
    return _back_to_matrix(engagement, records)


@require_POST
def comment(request, code):
    """Comment on the chosen stages of the matrix."""
    engagement = visible_engagement(request, code)
    records = _chosen(request, engagement)
    if not records:
        messages.warning(request, _("Select stages in the matrix first."))
    else:
        attempt(request, lambda: services.comment_on_stages(
            actor=request.user, records=records, text=request.POST.get("comment", "")), _("Saved."))
    return _back_to_matrix(engagement, records)


def _back_to_matrix(engagement, records: list[StageRecord]):
    """To the first of the chosen cells, on the page of the matrix that holds it."""
    if records:
        return redirect(queries.place_in_matrix(records[0]))
    return redirect("engagements:engagement", engagement.code)


def _chosen(request, engagement) -> list[StageRecord]:
    keys = [key for key in request.POST.getlist("record") if key.isdecimal()]
    return list(StageRecord.objects.filter(
        model__engagement=engagement, pk__in=keys).select_related("model__engagement"))


def _assignments_back(changes: list) -> tuple[str, dict] | None:
    moved = [change.facts for change in changes if change.before != change.after]
    return ("stage.assign", {"changes": moved}) if moved else None


def _assigned(records: list, person: Membership | None) -> str:
    if person is None:
        return ngettext("%(n)d stage is now unassigned.",
                        "%(n)d stages are now unassigned.", len(records)) % {
                            "n": len(records)}
    return ngettext("%(n)d stage is assigned to %(person)s.",
                    "%(n)d stages are assigned to %(person)s.", len(records)) % {
                        "n": len(records), "person": person.user}


@require_POST
def member_remove(request, code, pk):
    membership = get_object_or_404(
        Membership, pk=pk, engagement=visible_engagement(request, code))
    attempt(request, lambda: services.remove_member(actor=request.user, membership=membership),
            _("Removed from the team."), undo=lambda _done: ("member.remove", {
                "engagement": membership.engagement_id, "user": membership.user_id,
                "role": membership.role}))
    return redirect("engagements:team", code)


@require_http_methods(["GET", "POST"])
def model_new(request, code):
    engagement = visible_engagement(request, code)
    require(request.user, Can.MANAGE, engagement)
    form = ModelForm(request.POST or None, of=engagement)
    if form.is_valid() and attempt_form(form, lambda: services.add_model(
            actor=request.user, engagement=engagement, **form.cleaned_data)):
        messages.success(request, _("%(code)s is added.") % {
            "code": form.cleaned_data["code"]})
        again = "again" in request.POST
        return redirect("engagements:model_new" if again else "engagements:engagement", code)
    return render(request, "engagements/model_form.html", {"form": form, "engagement": engagement})


@require_http_methods(["GET", "POST"])
def model_edit(request, code, model_code):
    engagement = visible_engagement(request, code)
    require(request.user, Can.MANAGE, engagement)
    model = get_object_or_404(engagement.models, code=model_code)
    form = ModelFactsForm(request.POST or None, instance=model)
    if form.is_valid() and attempt_form(form, lambda: services.update_model(
            actor=request.user, model=model, **form.cleaned_data)):
        messages.success(request, _("Saved."))
        return redirect("engagements:engagement", code)
    return render(request, "engagements/model_edit.html", {
        "form": form, "engagement": engagement, "model": model})
