from django.apps import AppConfig


class AcceptanceConfig(AppConfig):
    name = "delivery.acceptance"
    label = "acceptance"

    def ready(self) -> None:
        """Register audited tables and gate checks, and listen to documents that are replaced."""
        from delivery.acceptance import (  # noqa: F401
            audit_config,
            gate_checks,
            signal_receivers,
        )
