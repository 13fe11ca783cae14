from django.apps import AppConfig


class SurveysConfig(AppConfig):
    name = "delivery.surveys"
    label = "surveys"

    def ready(self) -> None:
        from delivery.surveys import checks, vouched  # noqa: F401  gate checks and defaults too
