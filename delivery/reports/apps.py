from django.apps import AppConfig


class ReportsConfig(AppConfig):
    name = "delivery.reports"
    label = "reports"

    def ready(self) -> None:
        from delivery.reports import kinds
        from delivery.reports import models as own
        from engagements.vouching import vouch_for

        kinds.load_all()
        vouch_for(own.Document, own.DocumentStep, own.DocumentFile, own.Turn, own.ChainStep)
