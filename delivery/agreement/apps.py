from django.apps import AppConfig


class AgreementConfig(AppConfig):
    name = "delivery.agreement"
    label = "agreement"

    def ready(self) -> None:
        from delivery.agreement import audit_config, queries  # noqa: F401
