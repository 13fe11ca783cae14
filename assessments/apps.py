from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AssessmentsConfig(AppConfig):
    name = "assessments"
    verbose_name = _("Assessments")

    def ready(self) -> None:
        from assessments import checks, jobs  # noqa: F401  gate checks and job kinds
