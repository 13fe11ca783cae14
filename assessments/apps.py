from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AssessmentsConfig(AppConfig):
    name = "assessments"
    verbose_name = _("Assessments")

    def ready(self) -> None:
        """Register gate checks, job kinds, rule facts, audited tables and links to readings."""
        from assessments import (  # noqa: F401
            audit_config,
            gate_checks,
            job_kinds,
            rule_facts,
        )
        from assessments.accuracy import readings  # noqa: F401
        from assessments.performance import reading_links  # noqa: F401
