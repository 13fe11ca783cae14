"""Writes of weekly reports: facts are counted, words are written, then both are frozen."""

from datetime import date

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.planning.control.transitions import TRANSITIONS, WeeklyMove
from delivery.planning.control.weekly_facts import week_facts
from delivery.planning.control.weekly_labels import first_words
from delivery.planning.models import WeeklyReport
from delivery.planning.plan.working_days import monday_of
from delivery.planning.services.files import enqueue_files
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, User
from engagements.moves import make_move, require_move
from engagements.optimistic_locking import assign, lock_checked, save_changes


@transaction.atomic
def draft_weekly(*, actor: User, engagement: Engagement, day: date, today: date | None = None
                 ) -> WeeklyReport:
    """The report of the week of `day`, with its facts and first words made from them.

    Raises WrongState if that week has a report, InvalidInput for a week to come.
    """
    require(actor, Can.WORK, engagement)
    engagement = Engagement.objects.select_for_update(
        of=("self",), no_key=True).get(pk=engagement.pk)
    week_start = monday_of(day)
    if week_start > (today or timezone.localdate()):
        raise InvalidInput(_("This week has not begun."))
    if engagement.weekly_reports.filter(week_start=week_start).exists():
        raise WrongState(_("The week from %(day)s already has a report.")
                         % {"day": week_start})
    facts = week_facts(engagement, week_start)
    report = WeeklyReport.objects.create(
        engagement=engagement, week_start=week_start, written_by=actor, facts=facts,
        **first_words(facts))
    audit_log.record(actor=actor, action="weekly.draft", target=report, engagement=engagement)
    return report


@transaction.atomic
def update_weekly(*, actor: User, report: WeeklyReport, seen: int | None = None, **fields
                  ) -> WeeklyReport:
    """Change the words of a draft. Raises EditConflict when it moved on since `seen`."""
    report = lock_checked(report, seen)
    require_move(actor, TRANSITIONS, report, WeeklyMove.UPDATE)
    changed = assign(report, fields)
    save_changes(report, actor=actor, action=TRANSITIONS[WeeklyMove.UPDATE].audit.code,
                 engagement=report.engagement, changed=changed)
    return report


def refresh_weekly(*, actor: User, report: WeeklyReport) -> WeeklyReport:
    """Count the facts of a draft anew; its words stay."""
    return make_move(actor=actor, table=TRANSITIONS, subject=report, move=WeeklyMove.REFRESH)


@transaction.atomic
def freeze_weekly(*, actor: User, report: WeeklyReport) -> WeeklyReport:
    """Freeze words and facts with their SHA-256; from then on only a next version does."""
    report = make_move(actor=actor, table=TRANSITIONS, subject=report, move=WeeklyMove.FREEZE)
    enqueue_files(report)
    return report


def correct_weekly(*, actor: User, report: WeeklyReport, reason: str) -> WeeklyReport:
    """Draft the next version of a frozen report, which says what was corrected and why."""
    return make_move(actor=actor, table=TRANSITIONS, subject=report, move=WeeklyMove.CORRECT,
                     reason=reason)
