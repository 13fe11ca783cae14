from django.apps import AppConfig


class AcceptanceConfig(AppConfig):
    name = "delivery.acceptance"
    label = "acceptance"

    def ready(self) -> None:
        from delivery.acceptance import checks, vouched  # noqa: F401  registers the gate check
