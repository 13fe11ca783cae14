from django.apps import AppConfig


class AcceptanceConfig(AppConfig):
    name = "delivery.acceptance"
    label = "acceptance"

    def ready(self) -> None:
        """Register audited tables, gate checks and what releases payments; listen to documents that
        are replaced."""
        from delivery.acceptance import (  # noqa: F401
            audit_config,
            gate_checks,
            milestones,
            signal_receivers,
        )
