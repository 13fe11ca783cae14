from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.utils.translation import gettext_lazy as _


class OperationConfig(AppConfig):
    name = "delivery.operation"
    verbose_name = _("System status")

    def ready(self) -> None:
        """Say which tables are audited; check the names of settings; connect what workers tell of
        their tasks, and what follows writes; start tracing where a collector is named; load
        plug-ins."""
        from delivery import followers
        from delivery.operation import (  # noqa: F401
            audit_config,
            configuration,
            plugins,
            tracing,
            worker_signals,
        )

        followers.connect()
        checks.register(configuration.check_names)
        plugins.load_all()
        checks.register(plugins.check_plugins)
        if tracing.is_wanted():
            tracing.start(settings.VERSION)
