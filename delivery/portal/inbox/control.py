"""To-dos, outstanding issues and risks of one person."""

from collections.abc import Iterator
from datetime import date, datetime, time

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.planning.models import ProjectIssue, Risk, Todo
from delivery.portal.inbox.items import OPEN, OTHERS_WAIT, InboxContext, InboxItem


def todos(context: InboxContext) -> Iterator[InboxItem]:
    """What the user promised and has not done."""
    rows = Todo.objects.visible_to(context.user).filter(owner=context.user, done_at=None)
    for todo in rows.select_related("engagement"):
        yield _of_control(context, OPEN, "todo", _("To-do"), todo,
                          f"todo-{todo.pk}", todo.due_on)


def issues(context: InboxContext) -> Iterator[InboxItem]:
    """The user's outstanding issues; others wait for blocking ones."""
    rows = ProjectIssue.objects.visible_to(context.user).filter(owner=context.user, closed_on=None)
    for issue in rows.select_related("engagement"):
        is_blocking = issue.level == ProjectIssue.Level.BLOCKING
        yield _of_control(context, OTHERS_WAIT if is_blocking else OPEN, "issue",
                          _("Blocking issue") if is_blocking else _("Outstanding issue"),
                          issue, f"issue-{issue.number}", issue.due_on, issue.raised_on)


def risks(context: InboxContext) -> Iterator[InboxItem]:
    """Risks of the user whose review date has come."""
    rows = Risk.objects.visible_to(context.user).filter(
        owner=context.user, review_on__lte=context.today).exclude(state=Risk.State.CLOSED)
    for risk in rows.select_related("engagement"):
        yield _of_control(context, OPEN, "risk", _("Risk to review"), risk,
                          f"risk-{risk.number}", risk.review_on)


def _of_control(context: InboxContext, rank: int, kind: str, label: str, row, place: str, due: date,
                since: date | None = None) -> InboxItem:
    """A row of the page of project control; `place` is its anchor there."""
    begun = since and timezone.make_aware(datetime.combine(since, time.min))
    code = row.engagement.code
    url = f"{reverse('planning:control', args=[code])}#{place}"
    return context.item(rank, kind, label, str(row), code, url, due=due, since=begun)


SOURCES = (todos, issues, risks)
