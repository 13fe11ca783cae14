from django.apps import AppConfig


class SurveysConfig(AppConfig):
    name = "delivery.surveys"
    label = "surveys"

    def ready(self) -> None:
        from delivery.surveys import audit_config  # noqa: F401  gate checks and defaults too
