from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.utils.translation import gettext_lazy as _


class OperationConfig(AppConfig):
    name = "delivery.operation"
    verbose_name = _("System status")

    def ready(self) -> None:
        """Say which tables are audited; check the names of settings; connect what workers tell of
        their tasks; start tracing where a collector is named."""
        from delivery.operation import audit_config, configuration, tracing, worker_signals  # noqa: F401

        checks.register(configuration.check_names)
        if tracing.is_wanted():
            tracing.start(settings.VERSION)
