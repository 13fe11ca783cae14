"""My desk: what waits for one person, the most urgent first."""

from collections.abc import Iterator
from datetime import date, datetime

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.acceptance.models import Review
from delivery.planning.models import ChangeRequest, ProjectIssue, Risk, Timesheet, Todo
from delivery.planning.waiting import (
    BROKEN,
    OPEN,
    OTHERS_WAIT,
    OVERDUE,
    Waiting,
    quotes_waiting,
    surveys_waiting,
)
from delivery.reports import registry
from delivery.reports.models import Document
from engagements.access import Can, allowed
from engagements.models import StageRecord, StageWaiver, User
from engagements.stages import StageState
from workers.models import Job, JobState

BAD_STATES = (JobState.FAILED, JobState.LOST, JobState.TIMED_OUT, JobState.UNKNOWN)


def waiting(user: User, now: datetime | None = None) -> list[Waiting]:
    """All that waits for the user: overdue, then what others wait for, then what broke, the rest.

    Within a rank what is due or waits longest comes first.
    """
    now = now or timezone.now()
    today = timezone.localdate(now)
    found = [*_stages(user), *_waivers(user), *_jobs(user), *surveys_waiting(user),
             *quotes_waiting(user), *_changes(user), *_timesheets(user), *_reviews(user),
             *_documents(user),
             *_todos(user, today), *_issues(user, today), *_risks(user, today)]
    return sorted(found, key=lambda item: (
        item.urgency, item.due or timezone.localdate(item.since or now), item.title))


def _stages(user: User) -> Iterator[Waiting]:
    """Submitted stages for who may pass them; sent back and open ones for who works on them."""
    records = StageRecord.objects.visible_to(user).select_related("model__engagement")
    if allowed(user, Can.MANAGE):
        records = records.filter(state=StageState.SUBMITTED)
    elif allowed(user, Can.WORK):
        records = records.filter(state__in=[StageState.SENT_BACK, StageState.IN_PROGRESS])
    else:
        return
    for record in records:
        rank = {StageState.SUBMITTED: OTHERS_WAIT, StageState.SENT_BACK: OTHERS_WAIT}
        code = record.model.engagement.code
        yield Waiting(
            rank.get(record.state, OPEN), f"stage_{record.state}", record.get_state_display(),
            f"{record.model} · {record.get_stage_display()}", code,
            reverse("engagements:stage", args=[code, record.model.code, record.stage]),
            since=record.submitted_at or record.started_at)


def _waivers(user: User) -> Iterator[Waiting]:
    """Waivers of stages that wait for a signature; never one's own."""
    if not (allowed(user, Can.REVIEW) or allowed(user, Can.MANAGE)):
        return
    for waiver in StageWaiver.objects.visible_to(user).open().filter(signed_at=None).exclude(
            drafted_by=user).select_related("record__model__engagement"):
        record = waiver.record
        code = record.model.engagement.code
        yield Waiting(OTHERS_WAIT, "waiver", _("Waiver to sign"),
                      f"{record.model} · {record.get_stage_display()}", code,
                      reverse("engagements:stage", args=[code, record.model.code, record.stage]),
                      since=waiver.drafted_at)


def _jobs(user: User) -> Iterator[Waiting]:
    """The user's own jobs that ended badly and were not tried again."""
    for job in Job.objects.visible_to(user).filter(
            created_by=user, state__in=BAD_STATES, retries=None).select_related("engagement"):
        yield Waiting(BROKEN, "job", job.get_state_display(), str(job),
                      job.engagement.code if job.engagement else "",
                      reverse("workers:job", args=[job.pk]), since=job.finished_at)


def _changes(user: User) -> Iterator[Waiting]:
    rows = ChangeRequest.objects.visible_to(user).filter(
        state=ChangeRequest.State.SUBMITTED).select_related("engagement")
    if allowed(user, Can.REVIEW):
        rows = rows.filter(customer_approved_at=None)
    elif allowed(user, Can.MANAGE):
        rows = rows.filter(firm_approved_at=None).exclude(created_by=user)
    else:
        return
    for change in rows:
        yield Waiting(OTHERS_WAIT, "change", _("Change to decide on"), str(change),
                      change.engagement.code, reverse("planning:change", args=[change.pk]),
                      since=change.created_at)


def _timesheets(user: User) -> Iterator[Waiting]:
    """Months that a manager confirmed and the customer has not answered."""
    if not allowed(user, Can.REVIEW):
        return
    for sheet in Timesheet.objects.visible_to(user).filter(
            state=Timesheet.State.SUBMITTED).select_related("engagement"):
        yield Waiting(OTHERS_WAIT, "timesheet", _("Timesheet to confirm"), str(sheet),
                      sheet.engagement.code, reverse("planning:timesheet", args=[sheet.pk]),
                      since=sheet.confirmed_at)


def _reviews(user: User) -> Iterator[Waiting]:
    """Acceptance documents that the customer has not decided on."""
    if not allowed(user, Can.REVIEW):
        return
    for review in Review.objects.filter(
            decision="", document__in=Document.objects.visible_to(user)
            ).select_related("document__engagement"):
        yield Waiting(OTHERS_WAIT, "review", _("Document to review"), review.document.number,
                      review.document.engagement.code,
                      reverse("acceptance:review", args=[review.document_id]),
                      since=review.opened_at)


def _documents(user: User) -> Iterator[Waiting]:
    """Documents to review or to approve: never one's own work twice, nor what one reviewed."""
    states = Document.State
    rows = Document.objects.visible_to(user).filter(
        state__in=[states.IN_REVIEW, states.REVIEWED]).select_related("engagement")
    for row in rows:
        kind, reviews = registry.get(row.kind), row.state == states.IN_REVIEW
        is_own = user.pk in ((row.created_by_id, row.submitted_by_id) if reviews
                             else (row.reviewed_by_id,))
        if allowed(user, kind.reviewed_by if reviews else kind.issued_by) and not is_own:
            label = _("Document to review") if reviews else _("Document to approve")
            yield Waiting(OTHERS_WAIT, "document", label, str(row), row.engagement.code,
                          reverse("reports:document", args=[row.pk]),
                          since=row.submitted_at if reviews else row.reviewed_at)


def _todos(user: User, today: date) -> Iterator[Waiting]:
    rows = Todo.objects.visible_to(user).filter(owner=user, done_at=None)
    for todo in rows.select_related("engagement"):
        yield _due("todo", _("To-do"), todo, todo.due_on, today)


def _issues(user: User, today: date) -> Iterator[Waiting]:
    rows = ProjectIssue.objects.visible_to(user).filter(owner=user, closed_on=None)
    for issue in rows.select_related("engagement"):
        yield _due("issue", _("Outstanding issue"), issue, issue.due_on, today)


def _risks(user: User, today: date) -> Iterator[Waiting]:
    """Risks of the user whose review date has come."""
    rows = Risk.objects.visible_to(user).filter(
        owner=user, review_on__lte=today).exclude(state=Risk.State.CLOSED)
    for risk in rows.select_related("engagement"):
        yield _due("risk", _("Risk to review"), risk, risk.review_on, today)


def _due(kind: str, label: str, row, due: date, today: date) -> Waiting:
    code = row.engagement.code
    return Waiting(OVERDUE if due < today else OPEN, kind, label, str(row), code,
                   reverse("planning:control", args=[code]), due=due)
