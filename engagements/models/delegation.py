from datetime import date

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.permissions import Role


class DelegationQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "DelegationQuerySet":
        """One's own, on either side; administrators see all."""
        if user.is_authenticated and user.role == Role.ADMINISTRATOR:
            return self
        return self.filter(models.Q(user_id=user.pk) | models.Q(delegate_id=user.pk))

    def in_force(self, day: date) -> "DelegationQuerySet":
        """Those that hold on this day, of people and to people who still have an account."""
        return self.filter(starts_on__lte=day, ends_on__gte=day, ended_at=None,
                           delegate__is_active=True)


class Delegation(models.Model):
    """Somebody is away: from one day to another a colleague does what waits for them by name.

    The colleague acts with rights of their own, in their own name, noted as done for the other.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="delegations",
                             verbose_name=_("who is away"))
    delegate = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE,
                                 related_name="delegated_to", verbose_name=_("who stands in"))
    starts_on = models.DateField(_("first day"))
    ends_on = models.DateField(_("last day"))
    recorded_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = DelegationQuerySet.as_manager()

    class Meta:
        ordering = ["-starts_on", "-pk"]
        constraints = [
            models.CheckConstraint(condition=models.Q(ends_on__gte=models.F("starts_on")),
                                   name="delegation_ends_after_it_begins"),
            models.CheckConstraint(condition=~models.Q(user=models.F("delegate")),
                                   name="delegation_to_another"),
        ]

    def __str__(self) -> str:
        return f"{self.user} → {self.delegate}, {self.starts_on} – {self.ends_on}"
