from django.apps import AppConfig


class PlanningConfig(AppConfig):
    name = "delivery.planning"
    label = "planning"

    def ready(self) -> None:
        """Register audited tables, time as work in a stage, and what person-days cost for the
        margin of quotes."""
        from delivery.planning import audit_config, queries  # noqa: F401
        from delivery.planning.effort.margins import grade_costs
        from delivery.quotes.margin import register_day_costs

        register_day_costs(grade_costs)
