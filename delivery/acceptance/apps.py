from django.apps import AppConfig


class AcceptanceConfig(AppConfig):
    name = "delivery.acceptance"
    label = "acceptance"

    def ready(self) -> None:
        from delivery.acceptance import audit_config, gate_checks  # noqa: F401  register themselves
