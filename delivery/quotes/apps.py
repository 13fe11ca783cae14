from django.apps import AppConfig


class QuotesConfig(AppConfig):
    name = "delivery.quotes"
    label = "quotes"

    def ready(self) -> None:
        from delivery.quotes.models import Quote
        from engagements.vouching import vouch_for

        vouch_for(Quote)
