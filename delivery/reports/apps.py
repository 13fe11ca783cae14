from django.apps import AppConfig


class ReportsConfig(AppConfig):
    name = "delivery.reports"
    label = "reports"

    def ready(self) -> None:
        """Register audited tables, the documents that trigger milestones, and all kinds."""
        from delivery.reports import audit_config, kinds, milestones  # noqa: F401

        kinds.load_all()
