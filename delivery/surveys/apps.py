from django.apps import AppConfig


class SurveysConfig(AppConfig):
    name = "delivery.surveys"
    label = "surveys"

    def ready(self) -> None:
        from delivery.surveys import checks  # noqa: F401  registers gate checks and defaults
