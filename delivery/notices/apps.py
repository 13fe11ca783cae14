from django.apps import AppConfig


class NoticesConfig(AppConfig):
    name = "delivery.notices"
    label = "notices"

    def ready(self) -> None:
        """Register audited tables and connect the receivers of audit entries."""
        from delivery.notices import audit_config, signal_receivers  # noqa: F401
