from delivery.planning.effort_choices import DriverCode, Grade, WorkItem
from delivery.planning.models.calendar_day import CalendarDay
from delivery.planning.models.change import ChangeRequest
from delivery.planning.models.change_proposal import ChangeProposal
from delivery.planning.models.control import (
    Meeting,
    MeetingFile,
    ProjectIssue,
    Risk,
    Todo,
    WeeklyReport,
)
from delivery.planning.models.effects import (
    AddedCriterion,
    CriterionEffect,
    PriceEffect,
    ScheduleEffect,
    ScopeAction,
    ScopeEffect,
)
from delivery.planning.models.effort import EffortDriver, EffortEstimate, EffortLine
from delivery.planning.models.files import (
    ChangeRequestFile,
    PlanBaselineFile,
    TimesheetFile,
    WeeklyReportFile,
)
from delivery.planning.models.people import Absence, MarginFloor, PlannedTask, Skill
from delivery.planning.models.plan import Dependency, Milestone, Plan, PlanBaseline, Task
from delivery.planning.models.planned_version import PlannedVersion
from delivery.planning.models.timesheet import GradeCost, TimeEntry, Timesheet

__all__ = [
    "Absence", "AddedCriterion", "CalendarDay", "ChangeProposal", "ChangeRequest",
    "ChangeRequestFile",
    "CriterionEffect", "Dependency",
    "DriverCode", "EffortDriver", "EffortEstimate", "EffortLine", "Grade", "GradeCost",
    "MarginFloor", "Meeting",
    "MeetingFile", "Milestone", "Plan", "PlanBaseline", "PlanBaselineFile", "PlannedTask",
    "PlannedVersion",
    "PriceEffect",
    "ProjectIssue", "Risk", "ScheduleEffect", "ScopeAction", "ScopeEffect", "Skill", "Task",
    "TimeEntry",
    "Timesheet", "TimesheetFile", "Todo", "WeeklyReport", "WeeklyReportFile", "WorkItem",
]
