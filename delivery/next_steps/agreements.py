"""Surveys, quotes, changes, timesheets and criteria on which two sides agree."""

from collections.abc import Iterable

from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from assessments.models import Baseline, Confirmation, CriteriaSet, Side
from delivery.next_steps.items import OPEN, OTHERS_WAIT
from delivery.next_steps.rules import NextStep, Place, Scope, states
from delivery.planning.changes.transitions import DUTIES as CHANGE_DUTIES
from delivery.planning.models import ChangeProposal, ChangeRequest, Timesheet
from delivery.quotes.models import Quote
from delivery.quotes.transitions import DUTIES, may_review
from delivery.surveys.models import Survey
from engagements.access import Can, allowed
from engagements.addresses import address
from engagements.duties import Duty, conflict, missing_people
from engagements.models import AuditEntry, User

QUOTE, SURVEY = Quote.State, Survey.State
CHANGE, SHEET = ChangeRequest.State, Timesheet.State


def _may(*actions: Can):
    return lambda user: any(allowed(user, action) for action in actions)


def _no_manager(user: User) -> bool:
    """Managers may it too, but whose work it is gets it into the inbox."""
    return not allowed(user, Can.MANAGE)


# Surveys ------------------------------------------------------------------------------

def _surveys(**filters):
    return lambda scope: scope.of(Survey.objects).filter(**filters).select_related(
        "engagement").order_by("pk")


def _survey_at(route: str):
    def place(survey: Survey) -> Place:
        code = survey.engagement.code
        return Place(title=survey.engagement.localized_name, engagement=code,
                     url=address(route, code), since=survey.confirmed_at
                     or survey.submitted_at or survey.engagement.created_at)
    return place


SURVEYS = (
    NextStep(code="survey_open", label=gettext_lazy("Survey to answer"),
             may=_may(Can.REVIEW, Can.WORK), asks=_may(Can.REVIEW),
             order=("engagement__created_at",), rows=_surveys(state=SURVEY.DRAFT),
             place=_survey_at("surveys:overview"),
             covers=states("survey", SURVEY.DRAFT)),
    NextStep(code="survey", label=gettext_lazy("Survey to confirm"), may=_may(Can.WORK),
             asks=_no_manager, rows=_surveys(state=SURVEY.SUBMITTED), order=("submitted_at",),
             place=_survey_at("surveys:overview"), covers=states("survey", SURVEY.SUBMITTED)),
    NextStep(code="survey_decide", label=gettext_lazy("Go or no-go to decide"),
             may=_may(Can.MANAGE), rows=_surveys(state=SURVEY.CONFIRMED, is_decided=False),
             order=("confirmed_at",),
             place=_survey_at("surveys:consequences"),
             covers=states("survey", SURVEY.CONFIRMED)),
    NextStep(code="quote_due", label=gettext_lazy("Quote to write"), may=_may(Can.PRICE),
             asks=_no_manager,
             rows=_surveys(state=SURVEY.CONFIRMED, engagement__quotes=None),
             order=("confirmed_at",),
             place=_survey_at("quotes:engagement")),
)


# Quotes -------------------------------------------------------------------------------

def _quotes(*conditions, **filters):
    return lambda scope: scope.of(Quote.objects).filter(*conditions, **filters).select_related(
        "engagement").without_facts().order_by("pk")


def _quote_since(stamp: str):
    def place(quote: Quote) -> Place:
        return _quote_place(quote, since=getattr(quote, stamp) or quote.created_at,
                            due=quote.valid_until if quote.state == QUOTE.ISSUED else None)
    return place


def _quote_place(quote: Quote, **more) -> Place:
    return Place(title=str(quote), engagement=quote.engagement.code,
                 url=address("quotes:quote", quote.pk), **more)


def _drafts(scope: Scope) -> Iterable[Quote]:
    """Drafts with `back_at`: when they were sent back, None for those that never were."""
    rows = _quotes(state=QUOTE.DRAFT)(scope)
    if scope.user:
        rows = rows.filter(created_by=scope.user)
    rows = list(rows.order_by("created_at", "pk")[:scope.limit])
    entries = AuditEntry.objects.filter(
        target_type="quotes.quote", target_id__in=[str(row.pk) for row in rows],
        action__in=("quote.return", "quote.submit")).order_by("pk")
    last = {entry.target_id: entry for entry in entries}
    for row in rows:
        entry = last.get(str(row.pk))
        row.back_at = entry.at if entry and entry.action == "quote.return" else None
    return rows


def _draft_place(quote: Quote) -> Place:
    if quote.back_at:
        return _quote_place(quote, kind="quote_back", rank=OTHERS_WAIT, since=quote.back_at,
                            label=_("Quote sent back: to be revised"))
    return _quote_place(quote, since=quote.created_at)


def _is_author(user: User, row) -> bool:
    return row.created_by_id == user.pk


def _is_other(user: User, row) -> bool:
    return row.created_by_id != user.pk


def _reviews(user: User, quote: Quote) -> bool:
    return _is_other(user, quote) or not conflict(DUTIES, user, quote, Duty.REVIEWER)


def _approves(user: User, quote: Quote) -> bool:
    """Asks the database only for whoever did another step."""
    return user.pk not in (quote.created_by_id, quote.reviewed_by_id) or not conflict(
        DUTIES, user, quote, Duty.APPROVER)


def _lacks(quote: Quote) -> list[str]:
    return missing_people(DUTIES, quote, None)


def _answerable(scope: Scope):
    return _quotes()(scope).in_state(QUOTE.ISSUED, scope.today)


def _unanswered(scope: Scope) -> Iterable[Quote]:
    """Declined or expired ones that no newer version followed."""
    newer = Quote.objects.filter(engagement=OuterRef("engagement"), pk__gt=OuterRef("pk"))
    return _quotes(Q(state=QUOTE.DECLINED) | Q(state=QUOTE.ISSUED, valid_until__lt=scope.today))(
        scope).filter(~Exists(newer))


OF_QUOTE = ("number", "version", "state", "created_at", "reviewed_at", "approved_at", "valid_until",
            "created_by", "reviewed_by", "engagement__code")
QUOTES = (
    NextStep(code="quote_draft", label=gettext_lazy("Draft quote to finish"), rank=OPEN,
             may=_may(Can.PRICE), is_for=_is_author, rows=_drafts, place=_draft_place,
             covers=states("quote", QUOTE.DRAFT)),
    NextStep(code="quote", label=gettext_lazy("Quote to review"), may=may_review,
             is_for=_reviews, lacks=_lacks, order=("created_at",), shown=OF_QUOTE,
             rows=_quotes(state=QUOTE.IN_REVIEW),
             place=_quote_since("created_at"), covers=states("quote", QUOTE.IN_REVIEW)),
    NextStep(code="quote", label=gettext_lazy("Quote to approve"), may=_may(Can.MANAGE),
             is_for=_approves, lacks=_lacks, order=("reviewed_at",), shown=OF_QUOTE,
             rows=_quotes(state=QUOTE.REVIEWED),
             place=_quote_since("reviewed_at"), covers=states("quote", QUOTE.REVIEWED)),
    NextStep(code="quote", label=gettext_lazy("Quote to issue"), may=_may(Can.PRICE),
             asks=_no_manager, order=("approved_at",), shown=OF_QUOTE,
             rows=_quotes(state=QUOTE.APPROVED),
             place=_quote_since("approved_at"), covers=states("quote", QUOTE.APPROVED)),
    NextStep(code="quote", label=gettext_lazy("Quote to answer"), may=_may(Can.REVIEW),
             order=("issued_at",),
             rows=_answerable, place=_quote_since("issued_at"),
             covers=states("quote", QUOTE.ISSUED)),
    NextStep(code="quote_again", label=gettext_lazy("New version of the quote to make"),
             may=_may(Can.PRICE), asks=None, rows=_unanswered, place=_quote_since("issued_at"),
             covers=states("quote", QUOTE.DECLINED)),
)


# Changes and timesheets -----------------------------------------------------------------

def _changes(**filters):
    return lambda scope: scope.of(ChangeRequest.objects).filter(**filters).select_related(
        "engagement")


def _change_place(change: ChangeRequest) -> Place:
    return Place(title=str(change), engagement=change.engagement.code,
                 url=address("planning:change", change.pk), since=change.created_at)


def _lacks_for_change(change: ChangeRequest) -> list[str]:
    return missing_people(CHANGE_DUTIES, change, None)


def _sheets(**filters):
    return lambda scope: scope.of(Timesheet.objects).filter(**filters).select_related("engagement")


def _sheet_place(sheet: Timesheet) -> Place:
    return Place(title=str(sheet), engagement=sheet.engagement.code,
                 url=address("planning:timesheet", sheet.pk), since=sheet.confirmed_at)


def _unreplaced(scope: Scope) -> Iterable[Timesheet]:
    """Rejected ones that no later one of the same month followed."""
    later = Timesheet.objects.filter(engagement=OuterRef("engagement"), month=OuterRef("month"),
                                     number__gt=OuterRef("number"))
    return _sheets(state=SHEET.REJECTED)(scope).filter(~Exists(later))


def _proposals(scope: Scope) -> Iterable[ChangeProposal]:
    return scope.of(ChangeProposal.objects).filter(
        state=ChangeProposal.State.OPEN).select_related("engagement")


def _proposal_place(proposal: ChangeProposal) -> Place:
    return Place(title=str(proposal), engagement=proposal.engagement.code,
                 url=address("planning:proposal", proposal.pk), since=proposal.created_at)


_CHANGE = gettext_lazy("Change to decide on")
CHANGES = (
    NextStep(code="change_proposal", label=gettext_lazy("Change proposal to answer"),
             may=_may(Can.WORK), order=("created_at",), rows=_proposals, place=_proposal_place,
             covers=states("change_proposal", ChangeProposal.State.OPEN)),
    NextStep(code="change_draft", label=gettext_lazy("Change to submit"), may=_may(Can.WORK),
             asks=None, rows=_changes(state=CHANGE.DRAFT), place=_change_place,
             covers=states("change", CHANGE.DRAFT)),
    NextStep(code="change", label=_CHANGE, may=_may(Can.REVIEW), is_for=_is_other,
             order=("created_at",),
             rows=_changes(state=CHANGE.SUBMITTED, customer_approved_at=None),
             lacks=_lacks_for_change, place=_change_place,
             covers=states("change", CHANGE.SUBMITTED)),
    NextStep(code="change", label=_CHANGE, may=_may(Can.MANAGE), is_for=_is_other,
             order=("created_at",),
             rows=_changes(state=CHANGE.SUBMITTED, firm_approved_at=None),
             lacks=_lacks_for_change, place=_change_place,
             covers=states("change", CHANGE.SUBMITTED)),
    NextStep(code="change_result", label=gettext_lazy("Result of the change to record"),
             may=_may(Can.WORK), asks=None, rows=_changes(state=CHANGE.APPLIED, result_at=None),
             place=_change_place, covers=states("change", CHANGE.APPLIED)),
    NextStep(code="timesheet", label=gettext_lazy("Timesheet to confirm"), may=_may(Can.REVIEW),
             order=("confirmed_at",),
             rows=_sheets(state=SHEET.SUBMITTED), place=_sheet_place,
             covers=states("timesheet", SHEET.SUBMITTED)),
    NextStep(code="timesheet_again", label=gettext_lazy("Rejected timesheet to correct"),
             may=_may(Can.MANAGE), asks=None, rows=_unreplaced, place=_sheet_place,
             covers=states("timesheet", SHEET.REJECTED)),
)


# Criteria and baselines -------------------------------------------------------------------

def _confirmations(side: str, **filters):
    """The other side's confirmations that `side` has not answered."""
    def rows(scope: Scope) -> Iterable[Confirmation]:
        same = Confirmation.objects.filter(side=side, content_hash=OuterRef("content_hash"))
        given = Confirmation.objects.exclude(side=side).filter(~Exists(same), **filters)
        if "baseline__frozen_at" in filters:
            sheets = scope.of(Baseline.objects, "model__engagement")
            return given.filter(baseline__in=sheets).select_related("baseline__model__engagement")
        sheets = scope.of(CriteriaSet.objects)
        return given.filter(criteria_set__in=sheets).select_related("criteria_set__engagement")
    return rows


def _criteria_place(row: Confirmation) -> Place:
    code = row.criteria_set.engagement.code
    return Place(title=str(row.criteria_set), engagement=code, since=row.confirmed_at,
                 url=address("assessments:criteria", code))


def _baseline_place(row: Confirmation) -> Place:
    return Place(title=str(row.baseline), engagement=row.baseline.model.engagement.code,
                 url=address("assessments:baseline", row.baseline_id),
                 since=row.confirmed_at)


def _unconfirmed(scope: Scope) -> Iterable[CriteriaSet]:
    """Drafts that neither side has confirmed."""
    return scope.of(CriteriaSet.objects).filter(
        state=CriteriaSet.State.DRAFT, confirmations=None).select_related("engagement")


def _draft_criteria_place(row: CriteriaSet) -> Place:
    return Place(title=str(row), engagement=row.engagement.code,
                 url=address("assessments:criteria", row.engagement.code))


_CRITERIA, _BASELINE = gettext_lazy("Criteria to confirm"), gettext_lazy("Baseline to confirm")
CRITERIA = (
    NextStep(code="criteria_draft", label=gettext_lazy("Criteria to complete and confirm"),
             may=_may(Can.MANAGE, Can.REVIEW), asks=None, rows=_unconfirmed,
             place=_draft_criteria_place),
    *(NextStep(code=code, label=label, may=_may(action), rows=_confirmations(side, **filters),
               order=("confirmed_at",),
               place=place)
      for code, label, place, filters in (
          ("criteria", _CRITERIA, _criteria_place,
           {"criteria_set__state": CriteriaSet.State.DRAFT}),
          ("baseline", _BASELINE, _baseline_place, {"baseline__frozen_at": None}))
      for action, side in ((Can.REVIEW, Side.CUSTOMER), (Can.MANAGE, Side.FIRM))),
)
RULES = (*SURVEYS, *QUOTES, *CHANGES, *CRITERIA)
