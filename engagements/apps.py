from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class EngagementsConfig(AppConfig):
    name = "engagements"
    verbose_name = _("Engagements")

    def ready(self) -> None:
        from engagements import (  # noqa: F401  gate checks of this app, and who logged in
            checks,
            logins,
        )
        from engagements import models as own
        from engagements.vouching import vouch_for

        vouch_for(own.User, without=["password", "last_login"])
        vouch_for(own.Customer, own.Engagement, own.MigratedModel, own.Membership,
                  own.StageRecord, own.StageTransition, own.ChecklistItem, own.StageWaiver)
