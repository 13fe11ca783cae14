from django.apps import AppConfig
from django.core import checks


class ReportsConfig(AppConfig):
    name = "delivery.reports"
    label = "reports"

    def ready(self) -> None:
        """Register audited tables, the documents that trigger milestones and all kinds, which are
        checked."""
        from delivery.reports import audit_config, kinds, milestones  # noqa: F401
        from delivery.reports.kind_checks import check_kinds

        kinds.load_all()
        checks.register(check_kinds)
