from django.apps import AppConfig


class DemoConfig(AppConfig):
    name = "delivery.demo"
    label = "demo"

    def ready(self) -> None:
        """Decide on the audited tables."""
        from delivery.demo import audit_config  # noqa: F401
