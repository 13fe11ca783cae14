from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class OperationConfig(AppConfig):
    name = "delivery.operation"
    verbose_name = _("System status")

    def ready(self) -> None:
        """Say which tables are audited; connect what workers tell of their tasks."""
        from delivery.operation import audit_config, worker_signals  # noqa: F401
