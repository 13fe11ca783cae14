from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AssessmentsConfig(AppConfig):
    name = "assessments"
    verbose_name = _("Assessments")

    def ready(self) -> None:
        from assessments import audit_config  # noqa: F401
        from assessments.accuracy import readings  # noqa: F401
        from assessments.performance import reading_links  # noqa: F401
