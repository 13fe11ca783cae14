from django.apps import AppConfig


class DocumentsConfig(AppConfig):
    name = "delivery.documents"
    label = "documents"

    def ready(self) -> None:
        from delivery.documents import audit_config  # noqa: F401
