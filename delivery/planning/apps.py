from django.apps import AppConfig


class PlanningConfig(AppConfig):
    name = "delivery.planning"
    label = "planning"

    def ready(self) -> None:
        """Register audited tables, time as work in a stage, and what person-days cost for the
        margin of quotes."""
        from delivery.planning import audit_config, queries  # noqa: F401
        from delivery.planning.models import GradeCost
        from delivery.planning.people.capacity import overbooking_of
        from delivery.quotes.margin import register_day_costs
        from engagements.assignment_remarks import register_remark

        register_day_costs(GradeCost.objects.on)
        register_remark(overbooking_of)
