"""Pages of an engagement's criteria; each view calls one service."""

from django.http import Http404
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from assessments import queries, services
from assessments.definitions.route_aspects import uncovered
from assessments.duties import CRITERIA_DUTIES
from assessments.forms import CriterionForm, ReadySetForm, SignedSheetForm
from assessments.models import Baseline, CriteriaSet
from assessments.presentation import verdict_rows
from assessments.services.confirmations import confirmations
from assessments.views.lookups import form_page, to_criteria, visible_criterion, visible_engagement
from assessments.views.signed_sheets import entered_sheet
from engagements.access import Can, allowed, require
from engagements.duties import missing_people
from engagements.models import Engagement, User
from engagements.web.form_actions import attempt, attempt_form
from toolreaders.number_parsing import whole_number


def _open_draft(engagement: Engagement) -> CriteriaSet:
    draft = engagement.criteria_sets.filter(state=CriteriaSet.State.DRAFT).first()
    if draft is None:
        raise Http404
    return draft


@require_GET
def criteria(request, code):
    """The criteria of an engagement: models × thresholds with their verdicts."""
    engagement = visible_engagement(request, code)
    shown_set = _chosen_set(engagement, request.GET.get("version"))
    return render(request, "assessments/criteria.html", {
        "engagement": engagement, "active": "criteria", "criteria_set": shown_set,
        "customers_signature": queries.customers_signature(shown_set) if shown_set else "",
        "sets": engagement.criteria_sets.all(),
        "rows": verdict_rows.rows(queries.verdicts_of(shown_set)) if shown_set else [],
        "baselines": Baseline.objects.filter(model__engagement=engagement).select_related(
            "model", "artifact", "recorded_by"),
        "confirmed": confirmations(services.content_hash(shown_set), criteria_set=shown_set)
        if shown_set else [],
        "may_confirm": bool(shown_set and shown_set.state == CriteriaSet.State.DRAFT and (
            allowed(request.user, Can.REVIEW) or allowed(request.user, Can.MANAGE))),
        "missing_people": _missing_people(request.user, shown_set),
        "uncovered": _uncovered(engagement, shown_set),
        "sign_form": SignedSheetForm()})


def _uncovered(engagement: Engagement, shown: CriteriaSet | None) -> list[dict]:
    """By model and delivery the aspects that its route asks for and no criterion covers."""
    found: dict[tuple, list[str]] = {}
    criteria = shown.criteria.select_related("model", "definition") if shown else ()
    for model, side, aspect in uncovered(engagement.models.current(), criteria):
        found.setdefault((model, side), []).append(str(aspect.label))
    return [{"model": model, "side": side.label, "aspects": aspects}
            for (model, side), aspects in found.items()]


def _missing_people(user: User, shown: CriteriaSet | None) -> list[str]:
    """Whom the signature of a draft lacks, for those who may write in it."""
    is_open = shown and shown.state == CriteriaSet.State.DRAFT and allowed(user, Can.MANAGE)
    return missing_people(CRITERIA_DUTIES, shown, None) if is_open else []


def _chosen_set(engagement: Engagement, version: str | None) -> CriteriaSet | None:
    if (number := whole_number(version)) is not None:
        return get_object_or_404(engagement.criteria_sets, version=number)
    return queries.current_criteria(engagement)


@require_POST
def criteria_draft(request, code):
    """Begin a new version."""
    engagement = visible_engagement(request, code)
    draft = attempt(request, lambda: services.draft_criteria(
        actor=request.user, engagement=engagement), _("Draft created."))
    return to_criteria(code, draft)


@require_http_methods(["GET", "POST"])
def criterion_new(request, code):
    """Add a threshold to the open draft."""
    return _add_to_draft(request, code, CriterionForm, services.add_criterion, _("New criterion"))


@require_http_methods(["GET", "POST"])
def criteria_ready_set(request, code):
    """Add the thresholds of a ready set to the open draft."""
    return _add_to_draft(request, code, ReadySetForm, services.add_ready_set,
                         _("Add a set of thresholds"))


def _add_to_draft(request, code, form_class, service, title):
    engagement = visible_engagement(request, code)
    require(request.user, Can.MANAGE, engagement)
    draft = _open_draft(engagement)
    form = form_class(request.POST or None, engagement=engagement)
    if form.is_valid() and attempt_form(form, lambda: service(
            actor=request.user, criteria_set=draft, **form.cleaned_data)):
        return to_criteria(code, draft)
    return form_page(request, engagement, form, title)


@require_POST
def criterion_remove(request, pk):
    """Take a threshold out of the draft."""
    row = visible_criterion(request, pk)
    attempt(request, lambda: services.remove_criterion(actor=request.user, criterion=row),
            _("Criterion removed."))
    return to_criteria(row.criteria_set.engagement.code, row.criteria_set)


@require_POST
def criteria_sign(request, code):
    """Freeze the open draft."""
    engagement = visible_engagement(request, code)
    attempt(request, lambda: services.sign_criteria(
        actor=request.user, criteria_set=_open_draft(engagement),
        **entered_sheet(request, engagement)), _("Signed. The criteria are frozen."))
    return to_criteria(code)


@require_POST
def criteria_confirm(request, code):
    """Confirm the open draft for one's own side."""
    engagement = visible_engagement(request, code)
    draft = _open_draft(engagement)
    attempt(request, lambda: services.confirm_criteria(actor=request.user, criteria_set=draft),
            _("Confirmed as it stands; a later change needs a new confirmation."))
    return to_criteria(code, draft)


@require_POST
def criteria_judge(request, code):
    """Compute every verdict of the signed criteria anew."""
    engagement = visible_engagement(request, code)
    require(request.user, Can.WORK, engagement)
    attempt(request, lambda: services.judge_engagement(engagement, request.user),
            _("All verdicts were recomputed from the raw files."))
    return to_criteria(code)
