from django.apps import AppConfig


class PortalConfig(AppConfig):
    name = "delivery.portal"
    label = "portal"
