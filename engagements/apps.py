from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class EngagementsConfig(AppConfig):
    name = "engagements"
    verbose_name = _("Engagements")

    def ready(self) -> None:
        from engagements import checks  # noqa: F401  registers the gate checks of this app
