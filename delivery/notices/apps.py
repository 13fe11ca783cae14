from django.apps import AppConfig


class NoticesConfig(AppConfig):
    name = "delivery.notices"
    label = "notices"

    def ready(self) -> None:
        from delivery.notices import receivers, vouched  # noqa: F401  listens to the audit log
