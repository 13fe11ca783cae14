"""REST endpoints of this app: `routes` holds prefix, viewset and base name of each."""

from delivery.planning.api import (
    board,
    calendar_days,
    change_proposals,
    changes,
    control,
    effort,
    people,
    plan,
)

routes = [
    ("effort-estimates", effort.EffortEstimateViewSet, "effort-estimate"),
    ("time-entries", effort.TimeEntryViewSet, "time-entry"),
    ("grade-costs", effort.GradeCostViewSet, "grade-cost"),
    ("calendar-days", calendar_days.CalendarDayViewSet, "calendar-day"),
    ("timesheets", effort.TimesheetViewSet, "timesheet"),
    ("plans", plan.PlanViewSet, "plan"),
    ("plan-tasks", plan.TaskViewSet, "plan-task"),
    ("plan-dependencies", plan.DependencyViewSet, "plan-dependency"),
    ("planned-versions", plan.PlannedVersionViewSet, "planned-version"),
    ("risks", control.RiskViewSet, "risk"),
    ("project-issues", control.ProjectIssueViewSet, "project-issue"),
    ("todos", control.TodoViewSet, "todo"),
    ("meetings", control.MeetingViewSet, "meeting"),
    ("weekly-reports", control.WeeklyReportViewSet, "weekly-report"),
    ("change-requests", changes.ChangeRequestViewSet, "change-request"),
    ("change-proposals", change_proposals.ChangeProposalViewSet, "change-proposal"),
    ("board", board.BoardViewSet, "board"),
    *people.routes,
]
