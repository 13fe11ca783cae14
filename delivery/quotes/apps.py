from django.apps import AppConfig


class QuotesConfig(AppConfig):
    name = "delivery.quotes"
    label = "quotes"

    def ready(self) -> None:
        """Register audited tables."""
        from delivery.quotes import audit_config  # noqa: F401
