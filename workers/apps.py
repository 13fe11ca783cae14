from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WorkersConfig(AppConfig):
    name = "workers"
    verbose_name = _("Workers")

    def ready(self) -> None:
        from workers import (
            audit_config,  # noqa: F401
            kinds,
        )

        kinds.load_all()
