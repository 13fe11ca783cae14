from django.apps import AppConfig


class ReportsConfig(AppConfig):
    name = "delivery.reports"
    label = "reports"

    def ready(self) -> None:
        from delivery.reports import kinds, vouched  # noqa: F401

        kinds.load_all()
