"""Confirming the time of a month: a manager puts it to the customer, the customer answers."""

from datetime import date
from functools import partial

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from bundle_verifier.canonical import SPACED, content_hash
from delivery.planning.models import Timesheet
from delivery.planning.services.files import enqueue_files
from delivery.planning.time.timesheet_facts import timesheet_facts
from delivery.planning.time.transitions import TRANSITIONS, TimesheetMove
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, User
from engagements.moves import make_move


@transaction.atomic
def confirm_month(*, actor: User, engagement: Engagement, month: date) -> Timesheet:
    """A manager confirms the month's time that stands on no timesheet yet, for the customer.

    From now on these entries never change. Raises InvalidInput where there is none, WrongState
    while a timesheet of the month waits for the customer.
    """
    require(actor, Can.MANAGE, engagement)
    engagement = Engagement.objects.select_for_update(
        of=("self",), no_key=True).get(pk=engagement.pk)
    month = month.replace(day=1)
    sheets = engagement.timesheets.filter(month=month)
    waiting = sheets.filter(state=Timesheet.State.SUBMITTED).first()
    if waiting:
        raise WrongState(_("%(timesheet)s is still awaiting the customer's response.")
                         % {"timesheet": waiting})
    entries = _open_entries(engagement, month)
    number = (sheets.aggregate(most=Max("number"))["most"] or 0) + 1
    facts = timesheet_facts(engagement, month, number, entries)
    sheet = Timesheet.objects.create(
        engagement=engagement, month=month, number=number, confirmed_by=actor, facts=facts,
        content_hash=content_hash(facts, SPACED))
    engagement.time_entries.filter(pk__in=[entry.pk for entry in entries]).update(timesheet=sheet)
    audit_log.record(actor=actor, action="timesheet.submit", target=sheet, engagement=engagement,
                     data={"days": facts["days"], "hash": sheet.content_hash})
    enqueue_files(sheet)
    return sheet


def _open_entries(engagement: Engagement, month: date) -> list:
    entries = list(engagement.time_entries.filter(
        timesheet=None, work_date__year=month.year, work_date__month=month.month).select_related(
        "person", "model", "corrects__person", "corrects__model",
        "corrects__timesheet__engagement"))
    if not entries:
        raise InvalidInput(_("No time of %(month)s is left to confirm.")
                           % {"month": f"{month:%Y-%m}"})
    return entries


@transaction.atomic
def move_timesheet(*, actor: User, timesheet: Timesheet, move: str, reason: str = "") -> Timesheet:
    """The customer's answer, or the firm's taking back; a timesheet that is rejected or taken back
    stays on record, and its entries are free again."""
    timesheet = make_move(actor=actor, table=TRANSITIONS, subject=timesheet, move=move,
                          reason=reason)
    enqueue_files(timesheet)
    return timesheet


def answer_timesheet(*, actor: User, timesheet: Timesheet, is_confirmed: bool, reason: str = ""
                     ) -> Timesheet:
    """The customer confirms, or rejects with a reason."""
    move = TimesheetMove.CONFIRM if is_confirmed else TimesheetMove.REJECT
    return move_timesheet(actor=actor, timesheet=timesheet, move=move, reason=reason)


withdraw_timesheet = partial(move_timesheet, move=TimesheetMove.WITHDRAW)


def withdraw_unanswered(*, engagement: Engagement, actor: User) -> None:
    """Take back what the customer of an engagement that is cancelled has not answered."""
    for sheet in engagement.timesheets.filter(state=Timesheet.State.SUBMITTED):
        move_timesheet(actor=actor, timesheet=sheet, move=TimesheetMove.WITHDRAW,
                       reason=engagement.end_reason)
