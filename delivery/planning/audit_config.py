"""Which tables of this app the audit log tracks: all but a summary."""

from delivery.planning import models as own
from engagements.audit_rows.tracking import do_not_track, track_rows

track_rows(own.Plan, own.Task, own.Dependency, own.Milestone, own.PlanBaseline,
           own.PlannedVersion)
track_rows(own.CalendarDay, own.ScopeEffect, own.ScheduleEffect, own.CriterionEffect,
           own.AddedCriterion, own.PlanBaselineFile)
track_rows(own.EffortDriver, own.EffortEstimate, own.EffortLine,
           own.TimeEntry, own.Timesheet, own.TimesheetFile, own.GradeCost,
           own.MarginFloor, own.Absence, own.Skill,
           own.Risk, own.ProjectIssue, own.Meeting, own.MeetingFile, own.Todo,
           own.WeeklyReport, own.WeeklyReportFile,
           own.ChangeProposal, own.ChangeRequest, own.ChangeRequestFile, own.PriceEffect,
           is_confidential=True)
do_not_track({own.PlannedTask: "computed from the plan's tasks"})
