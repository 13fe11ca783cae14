"""To-dos, outstanding issues, risks and weekly reports."""

from collections.abc import Iterable
from datetime import date, datetime, time

from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from delivery.next_steps.items import OPEN, OTHERS_WAIT
from delivery.next_steps.rules import NextStep, Place, Scope, by_move
from delivery.planning.control import transitions as weekly_reports
from delivery.planning.control.transitions import WeeklyMove
from delivery.planning.models import Meeting, ProjectIssue, Risk, Todo, WeeklyReport
from engagements.access import Can, allowed
from engagements.addresses import address
from engagements.models import User


def _insider(user: User) -> bool:
    return allowed(user, Can.VIEW_INTERNAL)


def _is_owner(user: User, row) -> bool:
    return row.owner_id == user.pk


def _own(user: User) -> Q:
    return Q(owner=user)


def _todos(scope: Scope) -> Iterable[Todo]:
    return scope.of(Todo.objects).filter(done_at=None).select_related("owner", "engagement")


def _issues(scope: Scope) -> Iterable[ProjectIssue]:
    return scope.of(ProjectIssue.objects).filter(closed_on=None).select_related("engagement")


def _risks(scope: Scope) -> Iterable[Risk]:
    """Those whose review date has come."""
    return scope.of(Risk.objects).filter(review_on__lte=scope.today).exclude(
        state=Risk.State.CLOSED).select_related("engagement")


def _at(row, anchor: str, due: date | None, since: date | None = None, **more) -> Place:
    """A row of the page of project control; `anchor` is its place there."""
    begun = since and timezone.make_aware(datetime.combine(since, time.min))
    code = row.engagement.code
    return Place(title=str(row), engagement=code, due=due, since=begun,
                 url=f"{reverse('planning:control', args=[code])}#{anchor}", **more)


def _todo_place(row: Todo) -> Place:
    """On the page that its owner's side has."""
    if not row.owner.is_reviewer:
        return _at(row, f"todo-{row.pk}", row.due_on)
    code = row.engagement.code
    return Place(title=str(row), engagement=code, due=row.due_on,
                 url=f"{reverse('planning:cooperation', args=[code])}#todo-{row.pk}")


def _unconfirmed_minutes(scope: Scope) -> Iterable[Meeting]:
    return scope.of(Meeting.objects).filter(confirmed_at=None).exclude(
        shared_at=None).select_related("engagement")


def _minutes_place(row: Meeting) -> Place:
    return Place(title=str(row), engagement=row.engagement.code, since=row.shared_at,
                 url=address("planning:meeting", row.pk))


def _issue_place(row: ProjectIssue) -> Place:
    """Others wait for blocking ones."""
    blocking = {"rank": OTHERS_WAIT, "label": _("Blocking issue")} if (
        row.level == ProjectIssue.Level.BLOCKING) else {}
    return _at(row, f"issue-{row.number}", row.due_on, row.raised_on, **blocking)


def _weeks(scope: Scope) -> Iterable[WeeklyReport]:
    return scope.of(WeeklyReport.objects).filter(
        state=WeeklyReport.State.DRAFT).select_related("engagement")


def _week_place(row: WeeklyReport) -> Place:
    return Place(title=str(row), engagement=row.engagement.code,
                 url=address("planning:weekly", row.pk))


RULES = (
    NextStep(code="todo", label=gettext_lazy("To-do"), rank=OPEN, may=lambda user: True,
             is_for=_is_owner, goes_to_delegate=True, perhaps=_own, rows=_todos,
             order=("due_on",), place=_todo_place,
             shown=("text", "due_on", "owner__role", "engagement__code")),
    NextStep(code="minutes", label=gettext_lazy("Minutes to confirm"), rank=OPEN,
             may=lambda user: allowed(user, Can.REVIEW), rows=_unconfirmed_minutes,
             order=("shared_at",), place=_minutes_place),
    NextStep(code="issue", label=gettext_lazy("Outstanding issue"), rank=OPEN,
             may=lambda user: True, is_for=_is_owner, goes_to_delegate=True, perhaps=_own,
             rows=_issues, place=_issue_place, order=("due_on",)),
    NextStep(code="risk", label=gettext_lazy("Risk to review"), rank=OPEN, may=lambda user: True,
             is_for=_is_owner, goes_to_delegate=True, perhaps=_own, rows=_risks,
             order=("review_on",), place=lambda row: _at(row, f"risk-{row.number}", row.review_on)),
    by_move("weekly", weekly_reports.TRANSITIONS, WeeklyMove.FREEZE, code="weekly",
            label=gettext_lazy("Weekly report to freeze"), rank=OPEN, asks=None, rows=_weeks,
            place=_week_place),
)
