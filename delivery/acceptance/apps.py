from django.apps import AppConfig


class AcceptanceConfig(AppConfig):
    name = "delivery.acceptance"
    label = "acceptance"

    def ready(self) -> None:
        """Register the gate check of acceptance and audited tables."""
        from delivery.acceptance import audit_config, gate_checks  # noqa: F401
