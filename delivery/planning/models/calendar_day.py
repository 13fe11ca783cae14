from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.audit_rows.tracking import AuditedQuerySet


class CalendarDay(models.Model):
    """A day that the firm counts otherwise than the package of public holidays does."""

    day = models.DateField(_("day"), unique=True)
    is_worked = models.BooleanField(_("worked"))
    name = models.CharField(_("name"), max_length=40, blank=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["day"]

    def __str__(self) -> str:
        return str(self.day)
