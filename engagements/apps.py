from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class EngagementsConfig(AppConfig):
    name = "engagements"
    verbose_name = _("Engagements")

    def ready(self) -> None:
        pass
