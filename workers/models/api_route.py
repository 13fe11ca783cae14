"""How a use of an API that the NPU does not support, or may not, is dealt with."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import MigratedModel
from engagements.models.visibility import in_engagements_of


class ApiRouteQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "ApiRouteQuerySet":
        """Those of the models of visible engagements."""
        return self.filter(in_engagements_of(user, "model__engagement"))


class ApiRoute(models.Model):
    """A decision on one API of a model. Rows stay; the newest of an API is in force.

    It holds for the name, so that it also holds for what a newer analysis finds.
    """

    class Route(models.TextChoices):
        REPLACE = "replace", _("Replace by a supported API")
        DEVELOP = "develop", _("Develop an operator")
        CPU = "cpu", _("Run on the CPU")
        DROP = "drop", _("Drop the function")
        AS_IS = "as_is", _("Keep: tried, runs on the NPU")

    model = models.ForeignKey(MigratedModel, models.CASCADE, related_name="api_routes")
    api = models.CharField("API", max_length=240)
    route = models.CharField(_("route"), max_length=8, choices=Route)
    reason = models.CharField(_("reason"), max_length=240)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(auto_now_add=True)

    objects = ApiRouteQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["model", "api"], name="route_of_an_api")]
        constraints = [models.CheckConstraint(condition=~models.Q(reason=""),
                                              name="api_route_has_a_reason")]

    def __str__(self) -> str:
        return f"{self.api}: {self.get_route_display()}"
