from django.apps import AppConfig


class PlanningConfig(AppConfig):
    name = "delivery.planning"
    label = "planning"

    def ready(self) -> None:
        from delivery.planning import models as own
        from engagements.vouching import vouch_for

        vouch_for(own.ChangeRequest, own.ScopeEffect, own.ScheduleEffect, own.CriterionEffect,
                  own.AddedCriterion, own.PriceEffect, own.Timesheet, own.TimeEntry)
