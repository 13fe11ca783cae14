from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.access import Can, allowed
from engagements.audit_rows.tracking import AuditedQuerySet
from workers.models.runtime import Runtime


class JobTemplateQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "JobTemplateQuerySet":
        """Templates belong to the firm; the customer's people do not see them."""
        return self if allowed(user, Can.VIEW_INTERNAL) else self.none()


class JobTemplate(models.Model):
    """Parameters of a job kind that the firm uses again, with a runtime.

    It holds neither files nor paths, which belong to an engagement, nor confirmations, which are
    given for each job anew, nor secrets.
    """

    name = models.CharField(_("name"), max_length=80, unique=True)
    kind = models.CharField(_("kind"), max_length=60)
    parameters = models.JSONField(_("parameters"), default=dict, blank=True)
    runtime = models.ForeignKey(Runtime, models.PROTECT, null=True, blank=True,
                                related_name="templates", verbose_name=_("runtime"))
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = JobTemplateQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        indexes = [models.Index(fields=["kind", "name"], name="job_templates_by_kind")]

    def __str__(self) -> str:
        return self.name
