from django.apps import AppConfig


class QuotesConfig(AppConfig):
    name = "delivery.quotes"
    label = "quotes"

    def ready(self) -> None:
        from delivery.quotes import vouched  # noqa: F401
