from django.apps import AppConfig


class DemoConfig(AppConfig):
    name = "delivery.demo"
    label = "demo"
