from django.apps import AppConfig


class EvidenceConfig(AppConfig):
    name = "delivery.evidence"
    label = "evidence"
