from django.apps import AppConfig


class QuotesConfig(AppConfig):
    name = "delivery.quotes"
    label = "quotes"
