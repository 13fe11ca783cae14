"""Which tables of this app the audit log tracks: all of them."""

from delivery.planning import models as own
from engagements.audit_rows.tracking import track_rows

track_rows(own.Plan, own.Task, own.Dependency, own.Milestone, own.PlanBaseline,
           own.PlannedVersion)
track_rows(own.EffortDriver, own.EffortEstimate, own.EffortLine)
track_rows(own.TimeEntry, own.Timesheet, own.GradeCost, own.CalendarDay)
track_rows(own.Risk, own.ProjectIssue, own.Meeting, own.MeetingFile, own.Todo, own.WeeklyReport)
track_rows(own.ChangeProposal, own.ChangeRequest, own.ScopeEffect, own.ScheduleEffect,
           own.CriterionEffect, own.AddedCriterion, own.PriceEffect)
track_rows(own.PlanBaselineFile, own.WeeklyReportFile, own.ChangeRequestFile,
           own.TimesheetFile)
