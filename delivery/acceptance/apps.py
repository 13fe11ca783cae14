from django.apps import AppConfig


class AcceptanceConfig(AppConfig):
    name = "delivery.acceptance"
    label = "acceptance"

    def ready(self) -> None:
        """Register audited tables, gate checks and what releases payments."""
        from delivery.acceptance import audit_config, gate_checks, milestones  # noqa: F401
