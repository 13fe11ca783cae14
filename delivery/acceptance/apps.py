from django.apps import AppConfig


class AcceptanceConfig(AppConfig):
    name = "delivery.acceptance"
    label = "acceptance"
