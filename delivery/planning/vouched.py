"""Which tables of this app the audit log vouches for: all of them."""

from delivery.planning import models as own
from engagements.vouching import vouch_for

vouch_for(own.Plan, own.Task, own.Dependency, own.Milestone, own.PlanBaseline)
vouch_for(own.EffortDriver, own.EffortEstimate, own.EffortLine)
vouch_for(own.TimeEntry, own.Timesheet, own.GradeCost)
vouch_for(own.Risk, own.ProjectIssue, own.Meeting, own.MeetingFile, own.Todo, own.WeeklyReport)
vouch_for(own.ChangeRequest, own.ScopeEffect, own.ScheduleEffect, own.CriterionEffect,
          own.AddedCriterion, own.PriceEffect)
