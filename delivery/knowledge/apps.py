from django.apps import AppConfig


class KnowledgeConfig(AppConfig):
    name = "delivery.knowledge"
    label = "knowledge"

    def ready(self) -> None:
        """Register audited tables, and have solved cases found by words."""
        from delivery.knowledge import audit_config  # noqa: F401
        from delivery.knowledge.models import SolvedCase
        from engagements.search.index import Indexed, register

        register(Indexed(SolvedCase, ("title", "error_code", "operator", "log_pattern", "cause",
                                      "cure"), None))
