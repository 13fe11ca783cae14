from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WorkersConfig(AppConfig):
    name = "workers"
    verbose_name = _("Workers")

    def ready(self) -> None:
        """Register gate checks, audited tables, evidence references and all job kinds."""
        from workers import (  # noqa: F401
            audit_config,
            evidence_references,
            gate_checks,
            involvement,
            kinds,
            signal_receivers,
        )

        kinds.load_all()
