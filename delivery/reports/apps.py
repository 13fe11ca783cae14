from django.apps import AppConfig


class ReportsConfig(AppConfig):
    name = "delivery.reports"
    label = "reports"
