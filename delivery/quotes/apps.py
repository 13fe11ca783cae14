from django.apps import AppConfig


class QuotesConfig(AppConfig):
    name = "delivery.quotes"
    label = "quotes"

    def ready(self) -> None:
        """Register audited tables, and by which words quotes are found."""
        from delivery.quotes import audit_config  # noqa: F401
        from delivery.quotes.models import Quote
        from engagements.search.index import Indexed, of_engagement, register

        register(Indexed(Quote, ("number", "subject", *of_engagement()), "engagement"))
