from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils import translation
from django.utils.translation import gettext_lazy as _


class EngagementsConfig(AppConfig):
    name = "engagements"
    verbose_name = _("Engagements")

    def ready(self) -> None:
        """Register audited tables and gate checks, connect the log-in signals, and have the
        verifier's sentences translated by Django."""
        from bundle_verifier.translation import use
        from engagements import audit_config, gate_checks, search_index  # noqa: F401
        from engagements.audit import audit_log, end_sealing, login_log  # noqa: F401
        from engagements.web import sign_in_receiver  # noqa: F401

        use(translation)
        post_migrate.connect(search_index.prepare, sender=self)
        end_sealing.connect()
