from django.apps import AppConfig
from django.conf import settings
from django.utils.translation import gettext_lazy as _


class OperationConfig(AppConfig):
    name = "delivery.operation"
    verbose_name = _("System status")

    def ready(self) -> None:
        """Say which tables are audited; connect what workers tell of their tasks; start tracing
        where a collector is named."""
        from delivery.operation import audit_config, tracing, worker_signals  # noqa: F401

        if tracing.is_wanted():
            tracing.start(settings.VERSION)
