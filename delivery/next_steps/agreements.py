"""Surveys, quotes, changes, timesheets and criteria on which two sides agree."""

from collections.abc import Iterable
from datetime import timedelta

from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from assessments.duties import CRITERIA_DUTIES
from assessments.models import Baseline, Confirmation, CriteriaSet, Side
from delivery.next_steps.items import OPEN, OTHERS_WAIT
from delivery.next_steps.rules import NextStep, Place, Scope, by_move, everybody, states
from delivery.planning.changes import proposal_transitions
from delivery.planning.changes import transitions as changes
from delivery.planning.changes.proposal_transitions import ProposalMove
from delivery.planning.changes.transitions import ChangeMove
from delivery.planning.models import ChangeProposal, ChangeRequest, EffortEstimate, Timesheet
from delivery.planning.time import transitions as timesheets
from delivery.planning.time.transitions import TimesheetMove
from delivery.quotes import transitions as quotes
from delivery.quotes.models import Quote, QuoteAnswer
from delivery.quotes.transitions import QuoteMove
from delivery.surveys import transitions as surveys
from delivery.surveys.models import Survey
from delivery.surveys.transitions import SurveyMove
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
    by_move("survey", surveys.TRANSITIONS, SurveyMove.SUBMIT, code="survey_open",
            label=gettext_lazy("Survey to answer"), asks=_may(Can.REVIEW),
            order=("engagement__created_at",), rows=_surveys(state=SURVEY.DRAFT),
            place=_survey_at("surveys:overview")),
    by_move("survey", surveys.TRANSITIONS, SurveyMove.CONFIRM, code="survey",
            label=gettext_lazy("Survey to confirm"), asks=_no_manager,
            rows=_surveys(state=SURVEY.SUBMITTED), order=("submitted_at",),
            place=_survey_at("surveys:overview")),
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


def _lacks(quote: Quote) -> list[str]:
    return missing_people(quotes.DUTIES, quote, None)


def _answerable(scope: Scope):
    return _quotes()(scope).in_state(QUOTE.ISSUED, scope.today)


LAPSES_SOON = timedelta(days=7)
NOT_AGREED = (QUOTE.DECLINED, QUOTE.EXPIRED, QUOTE.REVOKED)


def _unanswered(scope: Scope) -> Iterable[Quote]:
    """Declined, revoked or expired ones that no newer version followed."""
    newer = Quote.objects.filter(engagement=OuterRef("engagement"), pk__gt=OuterRef("pk"))
    return _quotes(Q(state__in=NOT_AGREED) | Q(state=QUOTE.ISSUED, valid_until__lt=scope.today))(
        scope).filter(~Exists(newer))


def _unchecked_answers(scope: Scope) -> Iterable[QuoteAnswer]:
    return scope.of(QuoteAnswer.objects, "quote__engagement").unchecked().select_related(
        "quote__engagement")


def _answer_place(row: QuoteAnswer) -> Place:
    return _quote_place(row.quote, since=row.recorded_at)


def _lapsing(scope: Scope) -> Iterable[Quote]:
    """Unanswered ones whose last valid day is near."""
    return _quotes(state=QUOTE.ISSUED, valid_until__range=(
        scope.today, scope.today + LAPSES_SOON))(scope)


def _quote(move: str, code: str = "quote", **more) -> NextStep:
    return by_move("quote", quotes.TRANSITIONS, move, code=code, **more)


OF_QUOTE = ("number", "version", "state", "created_at", "reviewed_at", "approved_at", "valid_until",
            "created_by", "reviewed_by", "engagement__code")
QUOTES = (
    _quote(QuoteMove.SUBMIT, code="quote_draft", label=gettext_lazy("Draft quote to finish"),
           rank=OPEN, is_for=_is_author, rows=_drafts, place=_draft_place),
    _quote(QuoteMove.REVIEW, label=gettext_lazy("Quote to review"), lacks=_lacks,
           order=("created_at",), shown=OF_QUOTE, rows=_quotes(state=QUOTE.IN_REVIEW),
           place=_quote_since("created_at")),
    _quote(QuoteMove.APPROVE, label=gettext_lazy("Quote to approve"), lacks=_lacks,
           order=("reviewed_at",), shown=OF_QUOTE, rows=_quotes(state=QUOTE.REVIEWED),
           place=_quote_since("reviewed_at")),
    _quote(QuoteMove.ISSUE, label=gettext_lazy("Quote to issue"), asks=_no_manager,
           order=("approved_at",), shown=OF_QUOTE, rows=_quotes(state=QUOTE.APPROVED),
           place=_quote_since("approved_at")),
    _quote(QuoteMove.ACCEPT, label=gettext_lazy("Quote to answer"), order=("issued_at",),
           is_for=everybody, rows=_answerable, place=_quote_since("issued_at")),
    NextStep(code="quote_answer_check", label=gettext_lazy("Recorded answer to confirm"),
             may=_may(Can.PRICE), is_for=lambda user, row: row.recorded_by_id != user.pk,
             rows=_unchecked_answers, order=("recorded_at",), place=_answer_place),
    NextStep(code="quote_lapses", label=gettext_lazy("Quote lapses soon: ask the customer"),
             may=_may(Can.PRICE), asks=_no_manager, rows=_lapsing, order=("valid_until",),
             place=_quote_since("issued_at")),
    NextStep(code="quote_again", label=gettext_lazy("New version of the quote to make"),
             may=_may(Can.PRICE), asks=None, rows=_unanswered, place=_quote_since("issued_at"),
             covers=states("quote", *NOT_AGREED)),
)


# Changes and timesheets -----------------------------------------------------------------

def _changes(**filters):
    return lambda scope: scope.of(ChangeRequest.objects).filter(**filters).select_related(
        "engagement")


def _change_place(change: ChangeRequest) -> Place:
    return Place(title=str(change), engagement=change.engagement.code,
                 url=address("planning:change", change.pk), since=change.created_at)


def _lacks_for_change(change: ChangeRequest) -> list[str]:
    return missing_people(changes.DUTIES, change, None)


def _change(move: str, code: str = "change", **more) -> NextStep:
    return by_move("change", changes.TRANSITIONS, move, code=code, place=_change_place, **more)


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


def _estimates(scope: Scope) -> Iterable[EffortEstimate]:
    return scope.of(EffortEstimate.objects).filter(
        state=EffortEstimate.State.DRAFT).select_related("engagement")


def _estimate_place(row: EffortEstimate) -> Place:
    return Place(title=str(row), engagement=row.engagement.code, since=row.created_at,
                 url=address("planning:effort", row.engagement.code))


_CHANGE = gettext_lazy("Change to decide on")
CHANGES = (
    NextStep(code="estimate", label=gettext_lazy("Estimate to approve"), rank=OPEN,
             may=_may(Can.MANAGE), is_for=lambda user, row: row.created_by_id != user.pk,
             rows=_estimates, order=("created_at",), place=_estimate_place),
    by_move("change_proposal", proposal_transitions.TRANSITIONS, ProposalMove.ANSWER,
            code="change_proposal", label=gettext_lazy("Change proposal to answer"),
            order=("created_at",), rows=_proposals, place=_proposal_place),
    _change(ChangeMove.SUBMIT, code="change_draft", label=gettext_lazy("Change to submit"),
            asks=None, rows=_changes(state=CHANGE.DRAFT)),
    *(_change(ChangeMove.APPROVE, label=_CHANGE, may=_may(right), order=("created_at",),
              rows=_changes(state=CHANGE.SUBMITTED, **{f"{side}_approved_at": None}),
              lacks=_lacks_for_change)
      for right, side in ((Can.REVIEW, "customer"), (Can.MANAGE, "firm"))),
    _change(ChangeMove.RESULT, code="change_result",
            label=gettext_lazy("Result of the change to record"), asks=None,
            rows=_changes(state=CHANGE.APPLIED, result_at=None)),
    by_move("timesheet", timesheets.TRANSITIONS, TimesheetMove.CONFIRM, code="timesheet",
            label=gettext_lazy("Timesheet to confirm"), order=("confirmed_at",),
            rows=_sheets(state=SHEET.SUBMITTED), place=_sheet_place),
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


def _to_sign(scope: Scope) -> Iterable[CriteriaSet]:
    """Drafts of which both sides have confirmed the same content."""
    firm = Confirmation.objects.filter(side=Side.FIRM, criteria_set=OuterRef("criteria_set"),
                                       content_hash=OuterRef("content_hash"))
    both = Confirmation.objects.filter(Exists(firm), side=Side.CUSTOMER,
                                       criteria_set=OuterRef("pk"))
    return scope.of(CriteriaSet.objects).filter(
        Exists(both), state=CriteriaSet.State.DRAFT).select_related("engagement")


_CRITERIA, _BASELINE = gettext_lazy("Criteria to confirm"), gettext_lazy("Baseline to confirm")
CRITERIA = (
    NextStep(code="criteria_draft", label=gettext_lazy("Criteria to complete and confirm"),
             may=_may(Can.MANAGE, Can.REVIEW), asks=None, rows=_unconfirmed,
             place=_draft_criteria_place),
    NextStep(code="criteria_sign", label=gettext_lazy("Criteria to sign"), may=_may(Can.MANAGE),
             is_for=lambda user, row: not conflict(CRITERIA_DUTIES, user, row, Duty.APPROVER),
             rows=_to_sign, place=_draft_criteria_place,
             lacks=lambda row: missing_people(CRITERIA_DUTIES, row, None)),
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
