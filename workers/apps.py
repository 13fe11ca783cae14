from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WorkersConfig(AppConfig):
    name = "workers"
    verbose_name = _("Workers")

    def ready(self) -> None:
        """Register gate checks, audited tables, evidence references, singulars of job sentences
        and all job kinds."""
        from workers import (  # noqa: F401
            audit_config,
            evidence_references,
            gate_checks,
            involvement,
            kinds,
        )
        from workers.dispatch import sentences  # noqa: F401
        from workers.labels import counted_nouns  # noqa: F401
        from workers.logs import job_causes  # noqa: F401

        kinds.load_all()
