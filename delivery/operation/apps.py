from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.utils.translation import gettext_lazy as _


class OperationConfig(AppConfig):
    name = "delivery.operation"
    verbose_name = _("System status")

    def ready(self) -> None:
        """Say which tables are audited, and have `verify --audit` look at files; check the names
        of settings; connect what workers tell of their tasks, and what follows writes; start
        tracing where a collector is named; load plug-ins."""
        from delivery import followers
        from delivery.evidence.verification import audit_verification
        from delivery.operation import (  # noqa: F401
            audit_config,
            configuration,
            plugins,
            stored_file_checks,
            tracing,
            worker_signals,
        )

        followers.connect()
        audit_verification.register_files_check(stored_file_checks.files_steps)
        checks.register(configuration.check_names)
        checks.register(configuration.check_placeholders, deploy=True)
        plugins.load_all()
        checks.register(plugins.check_plugins)
        if tracing.is_wanted():
            tracing.start(settings.VERSION)
