from django.apps import AppConfig


class InvoicingConfig(AppConfig):
    name = "delivery.invoicing"
    label = "invoicing"

    def ready(self) -> None:
        from delivery.invoicing import audit_config  # noqa: F401
