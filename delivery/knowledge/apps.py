from django.apps import AppConfig


class KnowledgeConfig(AppConfig):
    name = "delivery.knowledge"
    label = "knowledge"

    def ready(self) -> None:
        """Register audited tables and questions about baselines."""
        from assessments.services import plausibility
        from delivery.knowledge import audit_config  # noqa: F401
        from delivery.knowledge.figure_queries import question_about

        plausibility.register(question_about)
