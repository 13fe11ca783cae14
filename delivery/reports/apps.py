from django.apps import AppConfig


class ReportsConfig(AppConfig):
    name = "delivery.reports"
    label = "reports"

    def ready(self) -> None:
        """Register audited tables, the documents that trigger milestones, words and all kinds."""
        from delivery.reports import audit_config, kinds, milestones, search_words  # noqa: F401

        kinds.load_all()
