from django.apps import AppConfig


class KnowledgeConfig(AppConfig):
    name = "delivery.knowledge"
    label = "knowledge"

    def ready(self) -> None:
        """Register audited tables, questions about baselines, and have solved cases found by
        words."""
        from assessments.services import plausibility
        from delivery.knowledge import audit_config  # noqa: F401
        from delivery.knowledge.figure_queries import question_about
        from delivery.knowledge.models import SolvedCase
        from engagements.search.index import Indexed, register

        register(Indexed(SolvedCase, ("title", "error_code", "operator", "log_pattern", "cause",
                                      "cure"), None))
        plausibility.register(question_about)
