from django.apps import AppConfig


class PlanningConfig(AppConfig):
    name = "delivery.planning"
    label = "planning"

    def ready(self) -> None:
        from delivery.planning import audit_config  # noqa: F401
