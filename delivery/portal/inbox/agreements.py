"""Surveys, quotes, changes, timesheets and criteria on which two sides agree."""

from collections.abc import Iterator

from django.db.models import Exists, OuterRef
from django.urls import reverse
from django.utils.translation import gettext as _

from assessments.models import Confirmation, CriteriaSet, Side
from delivery.planning.models import ChangeRequest, Timesheet
from delivery.portal.inbox.items import OPEN, OTHERS_WAIT, InboxContext, InboxItem
from delivery.quotes.models import Quote
from delivery.quotes.transitions import QuoteMove, has_permission
from delivery.surveys.models import Survey
from engagements.access import Can, allowed
from engagements.models import AuditEntry, Engagement


def surveys(context: InboxContext) -> Iterator[InboxItem]:
    """To answer, for the customer; to confirm, for who delivers; to quote, for who prices.

    Once confirmed, go or no-go is to be decided, for managers.
    """
    user, states = context.user, Survey.State
    rows = Survey.objects.visible_to(user).select_related("engagement").order_by("pk")
    wanted = []
    if allowed(user, Can.REVIEW):
        wanted.append((rows.filter(state=states.DRAFT), "survey_open", _("Survey to answer"),
                       "surveys:overview"))
    if allowed(user, Can.MANAGE):
        wanted.append((rows.filter(state=states.CONFIRMED, decisions=None), "survey_decide",
                       _("Go or no-go to decide"), "surveys:consequences"))
    if allowed(user, Can.WORK) and not allowed(user, Can.MANAGE):
        wanted.append((rows.filter(state=states.SUBMITTED), "survey",
                       _("Survey to confirm"), "surveys:overview"))
    if allowed(user, Can.PRICE) and not allowed(user, Can.MANAGE):
        wanted.append((rows.filter(state=states.CONFIRMED, engagement__quotes=None),
                       "quote_due", _("Quote to write"), "quotes:engagement"))
    for found, kind, label, route in wanted:
        for survey in found:
            code = survey.engagement.code
            yield context.item(
                OTHERS_WAIT, kind, label, survey.engagement.localized_name, code,
                reverse(route, args=[code]), since=survey.confirmed_at or survey.submitted_at
                or survey.engagement.created_at)


def quotes(context: InboxContext) -> Iterator[InboxItem]:
    """To review or approve (never one's own), to issue, or to answer as the customer."""
    user, states = context.user, Quote.State
    rows = Quote.objects.visible_to(user).select_related("engagement").defer(
        "snapshot").order_by("pk")
    wanted = []
    if has_permission(user, QuoteMove.REVIEW):
        wanted.append((rows.filter(state=states.IN_REVIEW).exclude(created_by=user),
                       _("Quote to review"), "created_at"))
    if allowed(user, Can.MANAGE):
        wanted.append((rows.filter(state=states.REVIEWED).exclude(
            created_by=user).exclude(reviewed_by=user), _("Quote to approve"), "reviewed_at"))
    if allowed(user, Can.PRICE) and not allowed(user, Can.MANAGE):
        wanted.append((rows.filter(state=states.APPROVED), _("Quote to issue"), "approved_at"))
    if allowed(user, Can.REVIEW):
        wanted.append((rows.in_state(states.ISSUED, context.today), _("Quote to answer"),
                       "issued_at"))
    for found, label, stamp in wanted:
        for quote in found:
            is_offer = quote.state == states.ISSUED
            yield _quote(context, OTHERS_WAIT, "quote", label, quote,
                         since=getattr(quote, stamp) or quote.created_at,
                         due=quote.valid_until if is_offer else None)


def drafts(context: InboxContext) -> Iterator[InboxItem]:
    """One's own drafts of quotes; others wait for those that were sent back."""
    if not allowed(context.user, Can.PRICE):
        return
    rows = list(Quote.objects.visible_to(context.user).filter(
        state=Quote.State.DRAFT, created_by=context.user).select_related("engagement"))
    entries = AuditEntry.objects.filter(
        target_type="quotes.quote", target_id__in=[str(row.pk) for row in rows],
        action__in=("quote.return", "quote.submit")).order_by("pk")
    last = {entry.target_id: entry for entry in entries}
    for row in rows:
        entry = last.get(str(row.pk))
        is_back = entry is not None and entry.action == "quote.return"
        yield _quote(
            context, OTHERS_WAIT if is_back else OPEN, "quote_back" if is_back else "quote_draft",
            _("Quote sent back: to be mended") if is_back else _("Draft quote to finish"), row,
            since=entry.at if is_back else row.created_at)


def _quote(context: InboxContext, rank: int, kind: str, label: str, quote: Quote, **times
           ) -> InboxItem:
    return context.item(rank, kind, label, str(quote), quote.engagement.code,
                        reverse("quotes:quote", args=[quote.pk]), **times)


def changes(context: InboxContext) -> Iterator[InboxItem]:
    """Changes to decide on for one's side, never one's own."""
    rows = ChangeRequest.objects.visible_to(context.user).filter(
        state=ChangeRequest.State.SUBMITTED).select_related("engagement")
    if allowed(context.user, Can.REVIEW):
        rows = rows.filter(customer_approved_at=None)
    elif allowed(context.user, Can.MANAGE):
        rows = rows.filter(firm_approved_at=None).exclude(created_by=context.user)
    else:
        return
    for change in rows:
        yield context.item(OTHERS_WAIT, "change", _("Change to decide on"), str(change),
                           change.engagement.code, reverse("planning:change", args=[change.pk]),
                           since=change.created_at)


def timesheets(context: InboxContext) -> Iterator[InboxItem]:
    """Months that a manager confirmed and the customer has not answered."""
    if not allowed(context.user, Can.REVIEW):
        return
    for sheet in Timesheet.objects.visible_to(context.user).filter(
            state=Timesheet.State.SUBMITTED).select_related("engagement"):
        yield context.item(OTHERS_WAIT, "timesheet", _("Timesheet to confirm"), str(sheet),
                           sheet.engagement.code, reverse("planning:timesheet", args=[sheet.pk]),
                           since=sheet.confirmed_at)


def confirmations(context: InboxContext) -> Iterator[InboxItem]:
    """Criteria and baseline sheets that the other side has confirmed as they stand."""
    is_customer = allowed(context.user, Can.REVIEW)
    if not is_customer and not allowed(context.user, Can.MANAGE):
        return
    own, other = (Side.CUSTOMER, Side.FIRM) if is_customer else (Side.FIRM, Side.CUSTOMER)
    same = Confirmation.objects.filter(side=own, content_hash=OuterRef("content_hash"))
    given = Confirmation.objects.filter(side=other).filter(~Exists(same))
    visible = Engagement.objects.visible_to(context.user)
    for row in given.filter(criteria_set__state=CriteriaSet.State.DRAFT,
                            criteria_set__engagement__in=visible).select_related(
                                "criteria_set__engagement"):
        code = row.criteria_set.engagement.code
        yield context.item(OTHERS_WAIT, "criteria", _("Criteria to confirm"),
                           str(row.criteria_set), code,
                           reverse("assessments:criteria", args=[code]), since=row.confirmed_at)
    for row in given.filter(baseline__frozen_at=None, baseline__model__engagement__in=visible
                            ).select_related("baseline__model__engagement"):
        yield context.item(OTHERS_WAIT, "baseline", _("Baseline to confirm"), str(row.baseline),
                           row.baseline.model.engagement.code,
                           reverse("assessments:baseline", args=[row.baseline_id]),
                           since=row.confirmed_at)


SOURCES = (surveys, quotes, drafts, changes, timesheets, confirmations)
