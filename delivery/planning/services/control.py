"""Writes of risks, issues, minutes and to-dos. Each owns its transaction and audit entry."""

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.planning.models import Meeting, ProjectIssue, Risk, Todo
from engagements.access import Can, allowed, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, NotAllowed, WrongState
from engagements.models import Engagement, User
from engagements.optimistic_locking import assign, lock_checked, save_changes
from workers.models import Artifact


@transaction.atomic
def add_risk(*, actor: User, engagement: Engagement, **fields) -> Risk:
    """A numbered risk; its owner is somebody of the team."""
    engagement = _locked(actor, engagement)
    _require_member(engagement, fields["owner"])
    risk = Risk.objects.create(engagement=engagement, number=_next(engagement.risks), **fields)
    audit_log.record(actor=actor, action="risk.add", target=risk, engagement=engagement,
                     data={"score": risk.score})
    return risk


@transaction.atomic
def update_risk(*, actor: User, risk: Risk, seen: int | None = None, **fields) -> Risk:
    """Change a risk. Raises EditConflict when it moved on since version `seen`."""
    return _update(actor, risk, seen, fields, "risk.update")


@transaction.atomic
def add_issue(*, actor: User, engagement: Engagement, **fields) -> ProjectIssue:
    """A numbered outstanding issue (遗留问题)."""
    engagement = _locked(actor, engagement)
    _require_member(engagement, fields["owner"])
    issue = ProjectIssue(engagement=engagement, number=_next(engagement.project_issues), **fields)
    _check_issue(issue)
    issue.save()
    audit_log.record(actor=actor, action="project_issue.add", target=issue, engagement=engagement,
                     data={"level": issue.level})
    return issue


@transaction.atomic
def update_issue(*, actor: User, issue: ProjectIssue, seen: int | None = None, **fields
                 ) -> ProjectIssue:
    """Change or close an issue. Raises EditConflict when it moved on since version `seen`."""
    return _update(actor, issue, seen, fields, "project_issue.update")


def _update(actor: User, row: Risk | ProjectIssue, seen: int | None, fields: dict, action: str):
    require(actor, Can.WORK, row.engagement)
    row = lock_checked(row, seen)
    changed = assign(row, fields)
    _require_member(row.engagement, row.owner)
    if isinstance(row, ProjectIssue):
        _check_issue(row)
    save_changes(row, actor=actor, action=action, engagement=row.engagement, changed=changed)
    return row


def _check_issue(issue: ProjectIssue) -> None:
    if issue.closed_on and issue.closed_on < issue.raised_on:
        raise InvalidInput(_("The issue cannot be closed before it was raised."))
    if issue.model and issue.model.engagement_id != issue.engagement_id:
        raise InvalidInput(_("The model belongs to another engagement."))


@transaction.atomic
def record_meeting(*, actor: User, engagement: Engagement, topic: str, held_at: datetime,
                   todos: list[dict] | None = None, attachments: Iterable[Artifact] = (),
                   **fields) -> Meeting:
    """Numbered minutes with their to-dos (text, owner, due_on of each), all or nothing.

    Args:
        attachments: stored files of this engagement; InvalidInput for others.
    """
    files = list(attachments)
    if any(file.engagement_id != engagement.pk for file in files):
        raise InvalidInput(_("The file belongs to another engagement."))
    engagement = _locked(actor, engagement)
    meeting = Meeting.objects.create(
        engagement=engagement, number=_next(engagement.meetings), topic=topic, held_at=held_at,
        recorded_by=actor, **fields)
    meeting.attachments.set(files)
    for todo in todos or []:
        add_todo(actor=actor, engagement=engagement, meeting=meeting, **todo)
    audit_log.record(actor=actor, action="meeting.record", target=meeting, engagement=engagement,
                     data={"decisions": meeting.decision_lines, "todos": len(todos or []),
                           "attachments": [file.sha256 for file in files]})
    return meeting


@transaction.atomic
def update_meeting(*, actor: User, meeting: Meeting, seen: int | None = None,
                   attachments: Iterable[Artifact] = (), **fields) -> Meeting:
    """Correct minutes, and add stored files. Raises EditConflict when they moved on since `seen`.

    The audit log keeps what each field said before. What the customer confirmed said something
    else: it has to be confirmed again.
    """
    require(actor, Can.WORK, meeting.engagement)
    meeting = lock_checked(meeting, seen)
    files = list(attachments)
    if any(file.engagement_id != meeting.engagement_id for file in files):
        raise InvalidInput(_("The file belongs to another engagement."))
    changed = assign(meeting, fields)
    meeting.attachments.add(*files)
    if files:
        changed["attachments"] = ("--", ", ".join(file.name for file in files))
    if changed and meeting.confirmed_at:
        changed |= assign(meeting, {"confirmed_by": None, "confirmed_at": None})
    save_changes(meeting, actor=actor, action="meeting.update", engagement=meeting.engagement,
                 changed=changed)
    return meeting


@transaction.atomic
def add_todo(*, actor: User, engagement: Engagement, text: str, owner: User, due_on,
             meeting: Meeting | None = None) -> Todo:
    """Something that `owner`, of either side, does by `due_on`."""
    require(actor, Can.WORK, engagement)
    _require_member(engagement, owner, of_either_side=True)
    if meeting and meeting.engagement_id != engagement.pk:
        raise InvalidInput(_("The meeting belongs to another engagement."))
    todo = Todo.objects.create(engagement=engagement, meeting=meeting, text=text.strip(),
                               owner=owner, due_on=due_on)
    audit_log.record(actor=actor, action="todo.add", target=todo, engagement=engagement,
                     data={"owner": owner.username, "due_on": str(due_on)})
    return todo


@transaction.atomic
def finish_todo(*, actor: User, todo: Todo) -> Todo:
    """Done; by its owner, whoever stands in for him, or a manager. Raises WrongState when it is
    done already."""
    require(actor, Can.REVIEW if actor.is_reviewer else Can.VIEW_INTERNAL, todo.engagement)
    todo = Todo.objects.select_for_update(of=("self",), no_key=True).get(pk=todo.pk)
    if todo.owner_id not in {actor.pk, *actor.stands_in_for} and not allowed(actor, Can.MANAGE):
        raise NotAllowed(_("Only its owner or a manager can mark it done."))
    if todo.done_at:
        raise WrongState(_("This is already done."))
    todo.done_at, todo.done_by = timezone.now(), actor
    todo.save()
    audit_log.record(actor=actor, action="todo.finish", target=todo, engagement=todo.engagement)
    return todo


def _locked(actor: User, engagement: Engagement) -> Engagement:
    """The engagement's locked row: numbers are given one after the other."""
    require(actor, Can.WORK, engagement)
    return Engagement.objects.select_for_update(of=("self",), no_key=True).get(pk=engagement.pk)


def _next(rows: QuerySet) -> int:
    return (rows.aggregate(most=Max("number"))["most"] or 0) + 1


def _require_member(engagement: Engagement, person: User, *, of_either_side: bool = False
                    ) -> None:
    is_member = engagement.memberships.filter(user=person).exists()
    if not is_member or (person.is_reviewer and not of_either_side):
        raise InvalidInput(_("%(person)s is not on the team of this engagement.")
                           % {"person": person})
