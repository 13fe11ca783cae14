from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models.stage import StageRecord


class StageAssignment(models.Model):
    """Who of the team works on a model's stage, with a note on what is to be done."""

    record = models.OneToOneField(StageRecord, models.CASCADE, related_name="assignment")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT,
                               related_name="stage_assignments", verbose_name=_("assigned to"))
    note = models.CharField(_("note"), max_length=240, blank=True)
    assigned_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    assigned_at = models.DateTimeField()

    objects = AuditedQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.record}: {self.person}"
