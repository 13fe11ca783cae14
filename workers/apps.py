from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WorkersConfig(AppConfig):
    name = "workers"
    verbose_name = _("Workers")

    def ready(self) -> None:
        from engagements.vouching import vouch_for
        from workers import checks, deeds, evidence, kinds, receivers  # noqa: F401
        from workers import models as own

        kinds.load_all()
        vouch_for(own.Artifact, without=["rules", "note"])  # what readers and rules say of it
