"""Effort, time, plans, control and changes as the API shows them, by topic."""

from delivery.planning.serializers.change import (
    AddedCriterionSerializer,
    ChangeRequestSerializer,
    CriterionEffectSerializer,
    PriceEffectSerializer,
    RejectionSerializer,
    ScheduleEffectSerializer,
    ScopeEffectSerializer,
)
from delivery.planning.serializers.control import (
    EditedSerializer,
    MeetingSerializer,
    MeetingTodoSerializer,
    ProjectIssueSerializer,
    RiskSerializer,
    TodoSerializer,
    WeeklyReportSerializer,
    WeekSerializer,
)
from delivery.planning.serializers.desk import BoardRowSerializer, WaitingSerializer
from delivery.planning.serializers.effort import (
    AdjustSerializer,
    EffortEstimateSerializer,
    EffortLineSerializer,
    NewLineSerializer,
    TimeCorrectionSerializer,
    TimeEntrySerializer,
    TimesheetAnswerSerializer,
    TimesheetSerializer,
)
from delivery.planning.serializers.plan import (
    DependencySerializer,
    MilestoneSerializer,
    PlanBaselineSerializer,
    PlanSerializer,
    ScheduledSerializer,
    TaskSerializer,
)

__all__ = [
    "AddedCriterionSerializer",
    "AdjustSerializer",
    "BoardRowSerializer",
    "ChangeRequestSerializer",
    "CriterionEffectSerializer",
    "DependencySerializer",
    "EditedSerializer",
    "EffortEstimateSerializer",
    "EffortLineSerializer",
    "MeetingSerializer",
    "MeetingTodoSerializer",
    "MilestoneSerializer",
    "NewLineSerializer",
    "PlanBaselineSerializer",
    "PlanSerializer",
    "PriceEffectSerializer",
    "ProjectIssueSerializer",
    "RejectionSerializer",
    "RiskSerializer",
    "ScheduleEffectSerializer",
    "ScheduledSerializer",
    "ScopeEffectSerializer",
    "TaskSerializer",
    "TimeCorrectionSerializer",
    "TimeEntrySerializer",
    "TimesheetAnswerSerializer",
    "TimesheetSerializer",
    "TodoSerializer",
    "WaitingSerializer",
    "WeekSerializer",
    "WeeklyReportSerializer",
]
