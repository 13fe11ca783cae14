from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WorkersConfig(AppConfig):
    name = "workers"
    verbose_name = _("Workers")

    def ready(self) -> None:
        from workers import checks, deeds, evidence, kinds, receivers, vouched  # noqa: F401

        kinds.load_all()
