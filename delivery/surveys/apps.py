from django.apps import AppConfig


class SurveysConfig(AppConfig):
    name = "delivery.surveys"
    label = "surveys"

    def ready(self) -> None:
        """Register gate checks, defaults of job forms, facts of rules, answers for the agreement
        and audited tables."""
        from delivery.agreement.facts import register_answers
        from delivery.surveys import audit_config, gate_checks, rule_facts  # noqa: F401
        from delivery.surveys.answer_sheet import sheet_of

        register_answers(sheet_of)
