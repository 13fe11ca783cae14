from django.apps import AppConfig


class PortalConfig(AppConfig):
    name = "delivery.portal"
    label = "portal"

    def ready(self) -> None:
        """Decide on the audited tables."""
        from delivery.portal import audit_config  # noqa: F401
