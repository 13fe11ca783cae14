from django.apps import AppConfig


class SurveysConfig(AppConfig):
    name = "delivery.surveys"
    label = "surveys"

    def ready(self) -> None:
        from delivery.surveys import checks  # noqa: F401  registers gate checks and defaults
        from delivery.surveys import models as own
        from engagements.vouching import vouch_for

        vouch_for(own.Survey, own.Answer, own.Consequence, own.Decision)
