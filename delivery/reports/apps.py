from django.apps import AppConfig


class ReportsConfig(AppConfig):
    name = "delivery.reports"
    label = "reports"

    def ready(self) -> None:
        from delivery.reports import (
            audit_config,  # noqa: F401
            kinds,
        )

        kinds.load_all()
