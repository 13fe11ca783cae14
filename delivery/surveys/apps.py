from django.apps import AppConfig


class SurveysConfig(AppConfig):
    name = "delivery.surveys"
    label = "surveys"

    def ready(self) -> None:
        """Register gate checks, defaults of job forms, facts of rules and audited tables."""
        from delivery.surveys import audit_config, gate_checks, rule_facts  # noqa: F401
