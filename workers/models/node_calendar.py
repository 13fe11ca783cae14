from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from engagements.access import Can, allowed
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Engagement
from engagements.models.visibility import in_engagements_of
from workers.models.node import Node


class NodeReservationQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "NodeReservationQuerySet":
        """Maintenance windows, and reservations of visible engagements, for the firm's people."""
        if not allowed(user, Can.VIEW_INTERNAL):
            return self.none()
        return self.filter(in_engagements_of(user, or_none=True))


class NodeReservation(models.Model):
    """Cards of a node kept for one engagement from one time to another; for none: maintenance."""

    node = models.ForeignKey(Node, models.CASCADE, related_name="reservations",
                             verbose_name=_("node"))
    engagement = models.ForeignKey(Engagement, models.PROTECT, null=True, blank=True,
                                   related_name="reservations", verbose_name=_("engagement"))
    cards = models.PositiveSmallIntegerField(
        _("cards"), default=0, validators=[MaxValueValidator(64)],
        help_text=_("0: all cards of the node."))
    starts_at = models.DateTimeField(_("from"))
    ends_at = models.DateTimeField(_("to"))
    reason = models.CharField(_("reason"), max_length=160)
    stops_jobs_at = models.DateTimeField(
        _("stop running jobs at"), null=True, blank=True,
        help_text=_("Of a maintenance. Empty: jobs that run go on to their end."))

    objects = NodeReservationQuerySet.as_manager()

    class Meta:
        ordering = ["starts_at", "pk"]
        constraints = [models.CheckConstraint(
            condition=models.Q(ends_at__gt=models.F("starts_at")),
            name="reservation_ends_after_its_start")]

    def __str__(self) -> str:
        return f"{self.node} {self.starts_at:%Y-%m-%d %H:%M}"

    @property
    def fate_of_jobs(self) -> str:
        """What a maintenance does with jobs that run."""
        if self.stops_jobs_at is None:
            return gettext("Jobs that run go on to their end.")
        return gettext("Jobs that still run at %(at)s are stopped.") % {
            "at": f"{timezone.localtime(self.stops_jobs_at):%Y-%m-%d %H:%M}"}


class CardQuotaQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "CardQuotaQuerySet":
        """Quotas of visible engagements, for the firm's people."""
        if not allowed(user, Can.VIEW_INTERNAL):
            return self.none()
        return self.filter(in_engagements_of(user))


class CardQuota(models.Model):
    """How many cards the jobs of an engagement may hold at once, on all nodes together."""

    engagement = models.OneToOneField(Engagement, models.CASCADE, related_name="card_quota",
                                      verbose_name=_("engagement"))
    cards = models.PositiveSmallIntegerField(
        _("cards at once"), validators=[MinValueValidator(1), MaxValueValidator(10_000)])

    objects = CardQuotaQuerySet.as_manager()

    class Meta:
        ordering = ["engagement"]

    def __str__(self) -> str:
        return f"{self.engagement.code}: {self.cards}"
