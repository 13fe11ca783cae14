from django.apps import AppConfig


class NoticesConfig(AppConfig):
    name = "delivery.notices"
    label = "notices"

    def ready(self) -> None:
        from delivery.notices import audit_config  # noqa: F401  listens to the audit log
