from django.apps import AppConfig


class PlanningConfig(AppConfig):
    name = "delivery.planning"
    label = "planning"
