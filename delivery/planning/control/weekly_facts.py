"""What really happened in a week of an engagement, counted from rows and the audit log."""

from collections import Counter
from datetime import date, datetime, timedelta

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from assessments.models import Verdict
from delivery.agreement.queries import agreed_at
from delivery.planning.effort.margins import HALF_DAY, Effort
from delivery.planning.models import ChangeRequest, Plan, ProjectIssue, Risk, TimeEntry, Todo
from delivery.planning.plan.task_dates import Scheduled, end_of, schedule
from delivery.planning.plan.task_names import name_facts
from engagements.models import AuditEntry, Engagement, StageTransition
from engagements.stages import StageMove
from workers.models import Job

WEEK = timedelta(days=7)
ISSUED = ("document.issue", "quote.issue")
SIGNED = ("document.sign", "quote.accepted", "criteria.sign")
WITHDRAWN = ("document.withdraw", "quote.revoke")
NAMED = 5  # issues and risks that the report names


def bounds(week_start: date) -> tuple[datetime, datetime]:
    """The week from Monday 00:00, in the time zone that people see, end exclusive."""
    begin = datetime.combine(week_start, datetime.min.time())
    return timezone.make_aware(begin), timezone.make_aware(begin + WEEK)


def week_facts(engagement: Engagement, week_start: date) -> dict:
    """Counts and lists as plain data; codes, not words, so that each reader gets his language."""
    begin, end = bounds(week_start)
    within = {"gte": begin, "lt": end}
    return {
        "moves": _moves(engagement, within), "jobs": dict(Counter(
            Job.objects.whole().filter(engagement=engagement, **_range(
                "finished_at", within)).values_list("state", flat=True))),
        "verdicts": _verdicts(engagement, within), "days": _days(engagement, week_start),
        "documents": _labels(engagement, within, ISSUED),
        "changes": _labels(engagement, within, ("change.apply",)),
        "signed": _labels(engagement, within, SIGNED),
        "withdrawn": _labels(engagement, within, WITHDRAWN),
        "open_changes": [str(change) for change in engagement.change_requests.filter(
            Q(state=ChangeRequest.State.SUBMITTED) | Q(applied_at__gte=end), submitted_at__lt=end)],
        "plan": _plan(engagement, week_start), "resources": _resources(engagement, end),
        "risks": _risks(engagement, end),
        "issues": dict(Counter(_open_issues(engagement, end.date()).values_list(
            "level", flat=True))),
        "open_issues": _named_issues(engagement, end.date()),
        "todos": _todos(engagement, week_start),
        "audit_entries": AuditEntry.objects.filter(
            engagement=engagement, **_range("at", within)).count(),
    }


def _range(field: str, within: dict) -> dict:
    return {f"{field}__{how}": value for how, value in within.items()}


def _moves(engagement: Engagement, within: dict) -> list[dict]:
    """Gates of the week: each move of a model's stage that was not taken back, oldest first.

    A model that was dropped with all its stages stands under the change that did it.
    """
    moves = StageTransition.objects.standing().filter(
        record__model__engagement=engagement, **_range("at", within)
        ).exclude(move=StageMove.SKIP, record__model__dropped_at__isnull=False).select_related(
        "record__model", "actor").order_by("at", "pk")
    return [{"model": m.record.model.code, "stage": m.record.stage, "move": m.move,
             "by": m.actor.get_full_name(), "by_en": m.actor.full_name_en,
             "comment": m.comment} for m in moves]


def _verdicts(engagement: Engagement, within: dict) -> dict[str, int]:
    """Of each criterion judged in the week its last verdict of the week."""
    last = dict(Verdict.objects.filter(
        criterion__criteria_set__engagement=engagement, **_range("computed_at", within)
        ).order_by("pk").values_list("criterion_id", "outcome"))
    return dict(Counter(last.values()))


def _days(engagement: Engagement, week_start: date) -> list[dict]:
    rows = TimeEntry.objects.counted().filter(
        engagement=engagement, work_date__gte=week_start, work_date__lt=week_start + WEEK
        ).order_by("person").values(
        "person__full_name", "person__full_name_en", "person__username").annotate(
        halves=Count("pk"))
    return [{"person": row["person__full_name"] or row["person__username"],
             "person_en": row["person__full_name_en"], "days": row["halves"] / 2} for row in rows]


def _labels(engagement: Engagement, within: dict, actions: tuple[str, ...]) -> list[str]:
    """What those actions were done to in the week, each once; what was withdrawn after it in the
    same week stands only there."""
    entries = AuditEntry.objects.filter(
        engagement=engagement, action__in=(*actions, *WITHDRAWN), **_range("at", within)
        ).order_by("pk")
    last = {entry.target_label: entry.action for entry in entries}
    return [label for label, action in last.items() if action in actions]


def _plan(engagement: Engagement, week_start: date) -> dict:
    """Planned end, tasks finished in the week, late ones, and those due in the week after."""
    plan = Plan.objects.filter(engagement=engagement).first()
    if plan is None:
        return {}
    end = week_start + WEEK
    rows = schedule(plan, as_of=end - timedelta(days=1))
    return {
        "end": str(end_of(rows) or ""), "milestones": _milestones(plan, rows),
        "in_progress": [name_facts(r.task) for r in rows if r.state == "in_progress"],
        "not_started": sum(r.state == "not_started" for r in rows),
        "finished": [name_facts(r.task) for r in rows
                     if r.state == "passed" and week_start <= r.task.ended_on < end],
        "late": [{"task": name_facts(r.task), "slip": r.slip} for r in rows
                 if r.slip > 0 and not r.task.ended_on],
        "next": [name_facts(r.task) for r in rows
                 if not r.task.ended_on and r.start < end + WEEK and r.finish >= end],
    }


def _milestones(plan: Plan, rows: list[Scheduled]) -> list[dict]:
    """Each with the date that was agreed, the one of now, and whether it is reached."""
    found = {row.task.pk: row for row in rows}
    return [{"name": m.name, "name_en": m.name_en or m.name,
             "agreed": _day(row and row.baseline_finish), "now": _day(row and row.finish),
             "slip": row.slip if row else 0,
             "is_reached": bool(row and row.task.ended_on)}
            for m in plan.milestones.all() for row in [found.get(m.task_id)]]


def _day(day: date | None) -> str:
    return str(day or "")


def _resources(engagement: Engagement, end: datetime) -> dict[str, str]:
    """Person-days in all until then and as agreed then; no cost, as customers get the report."""
    used = TimeEntry.objects.counted().filter(
        engagement=engagement, work_date__lt=end.date()).count() * HALF_DAY
    return {"used": f"{used:f}",
            "quoted": f"{Effort(agreed_at(engagement, end)).days_quoted:f}"}


def _risks(engagement: Engagement, end: datetime) -> list[dict]:
    """The gravest that were added before, and not closed then."""
    later = AuditEntry.objects.filter(engagement=engagement, target_type="planning.risk",
                                      at__gte=end)
    added = later.filter(action="risk.add").values_list("target_id", flat=True)
    closed = [entry.target_id for entry in later.filter(action="risk.update")
              if entry.data["changed"].get("state", [""])[-1] == Risk.State.CLOSED]
    rows = engagement.risks.filter(~Q(state=Risk.State.CLOSED) | Q(pk__in=closed)).exclude(
        pk__in=list(added))
    return [{"risk": f"R-{risk.number:03} {risk.title}",
             "risk_en": f"R-{risk.number:03} {risk.title_en or risk.title}", "score": risk.score}
            for risk in sorted(rows, key=lambda risk: (-risk.score, risk.number))[:NAMED]]


def _open_issues(engagement: Engagement, end: date) -> QuerySet[ProjectIssue]:
    return ProjectIssue.objects.filter(Q(closed_on=None) | Q(closed_on__gte=end),
                                       engagement=engagement, raised_on__lt=end)


def _named_issues(engagement: Engagement, end: date) -> list[dict]:
    """The first due of those that are more than minor."""
    rows = _open_issues(engagement, end).exclude(level=ProjectIssue.Level.MINOR)
    return [{"issue": str(row), "due": f"{row.due_on}", "is_late": row.due_on < end}
            for row in rows.order_by("due_on", "number")[:NAMED]]


def _todos(engagement: Engagement, week_start: date) -> dict[str, int]:
    end = week_start + WEEK
    begin_at, end_at = bounds(week_start)
    return Todo.objects.filter(engagement=engagement).aggregate(
        done=Count("pk", filter=Q(done_at__gte=begin_at, done_at__lt=end_at)),
        overdue=Count("pk", filter=(Q(done_at=None) | Q(done_at__gte=end_at)) & Q(due_on__lt=end)))
