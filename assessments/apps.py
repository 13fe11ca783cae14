from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AssessmentsConfig(AppConfig):
    name = "assessments"
    verbose_name = _("Assessments")

    def ready(self) -> None:
        from assessments import checks, facts, jobs, receivers  # noqa: F401
        from assessments import models as own
        from assessments.accuracy import readings  # noqa: F401
        from assessments.performance import pages  # noqa: F401
        from engagements.vouching import vouch_for

        vouch_for(own.MetricDefinition, own.CriteriaSet, own.Criterion, own.Baseline,
                  own.BaselineRun, own.Confirmation, own.Measurement, own.Verdict, own.Waiver,
                  own.AcceptedDifference, own.AllowedDifference)
