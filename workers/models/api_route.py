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
        ISSUE = "issue", _("Raise an issue with the community")

    model = models.ForeignKey(MigratedModel, models.CASCADE, related_name="api_routes")
    api = models.CharField("API", max_length=240)
    route = models.CharField(_("route"), max_length=8, choices=Route)
    reason = models.CharField(_("reason"), max_length=240)
    # Of an issue: where it stands, and when the community answered; without it the API is open.
    link = models.URLField(_("link of the issue"), max_length=240, blank=True)
    answered_on = models.DateField(_("answered on"), null=True, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(auto_now_add=True)

    objects = ApiRouteQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["model", "api"], name="route_of_an_api")]
        constraints = [
            models.CheckConstraint(condition=~models.Q(reason=""), name="api_route_has_a_reason"),
            models.CheckConstraint(condition=models.Q(route="issue") ^ models.Q(link=""),
                                   name="api_route_link_of_an_issue"),
            models.CheckConstraint(
                condition=models.Q(answered_on=None) | models.Q(route="issue"),
                name="api_route_answer_of_an_issue")]

    def __str__(self) -> str:
        return f"{self.api}: {self.get_route_display()}"

    @property
    def is_settled(self) -> bool:
        """Whether it says what is done: an issue does once it is answered."""
        return self.route != self.Route.ISSUE or self.answered_on is not None

    @property
    def answer(self) -> str:
        """Of an issue its link and when it was answered, in the active language; else empty."""
        if not self.link:
            return ""
        if self.answered_on is None:
            return _("%(link)s, not answered yet") % {"link": self.link}
        return _("%(link)s, answered on %(day)s") % {
            "link": self.link, "day": self.answered_on.isoformat()}
