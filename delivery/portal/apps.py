from django.apps import AppConfig
from django.db.models.signals import post_migrate


class PortalConfig(AppConfig):
    name = "delivery.portal"
    label = "portal"

    def ready(self) -> None:
        """Decide on the audited tables, and keep the figures of the charts."""
        from delivery.portal import audit_config, chart_figures  # noqa: F401

        post_migrate.connect(chart_figures.prepare, sender=self)
