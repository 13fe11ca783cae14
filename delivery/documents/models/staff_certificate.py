from datetime import date, timedelta

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from engagements.access import Can, allowed
from engagements.audit_rows.tracking import AuditedQuerySet

WARN_BEFORE = timedelta(days=60)


class StaffCertificateQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "StaffCertificateQuerySet":
        """All of them for the firm's people; customers see what documents print."""
        return self if allowed(user, Can.VIEW_INTERNAL) else self.none()

    def valid_on(self, day: date) -> "StaffCertificateQuerySet":
        """Those that are valid on a day; one without an end always is."""
        return self.filter(models.Q(issued_on=None) | models.Q(issued_on__lte=day)).filter(
            models.Q(valid_until=None) | models.Q(valid_until__gte=day))

    def running_out(self, day: date) -> "StaffCertificateQuerySet":
        """Those that end within `WARN_BEFORE` of a day, or have ended."""
        return self.filter(valid_until__lt=day + WARN_BEFORE)


class StaffCertificate(models.Model):
    """A qualification of one of the firm's people, as documents present the team with it."""

    class Kind(models.TextChoices):
        HCIA = "hcia", "HCIA"
        HCIP = "hcip", "HCIP"
        HCIE = "hcie", "HCIE"
        HCCDA = "hccda", "HCCDA"
        HCCDP = "hccdp", "HCCDP"
        HCCDE = "hccde", "HCCDE"
        PMP = "pmp", "PMP"
        OTHER = "other", _("Other certificate")

    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT,
                               related_name="certificates", verbose_name=_("person"))
    kind = models.CharField(_("certificate"), max_length=8, choices=Kind)
    title = models.CharField(_("field or full name"), max_length=120, blank=True)
    number = models.CharField(_("number"), max_length=60)
    issued_on = models.DateField(_("issued on"), null=True, blank=True)
    valid_until = models.DateField(_("valid until"), null=True, blank=True)
    file = models.FileField(_("file"), upload_to="certificates/%Y", max_length=300, blank=True)
    file_name = models.CharField(max_length=160, blank=True, editable=False)
    sha256 = models.CharField(max_length=64, blank=True, editable=False)
    recorded_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    recorded_at = models.DateTimeField(auto_now_add=True)

    objects = StaffCertificateQuerySet.as_manager()

    class Meta:
        ordering = ["person__full_name", "person__username", "kind", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["person", "kind", "number"],
                                    name="certificate_recorded_once"),
            models.CheckConstraint(
                condition=models.Q(issued_on=None) | models.Q(valid_until=None)
                | models.Q(valid_until__gte=models.F("issued_on")),
                name="certificate_ends_after_its_issue"),
        ]

    def __str__(self) -> str:
        """“HCIE AI Solution Architect”, “PMP”; another certificate by its own name."""
        kind = "" if self.kind == self.Kind.OTHER else self.get_kind_display()
        return " ".join(filter(None, (kind, self.title)))

    @property
    def state(self) -> str:
        """`valid`, `expiring` within two months, or `expired`."""
        today = timezone.localdate()
        if self.valid_until is None or self.valid_until >= today + WARN_BEFORE:
            return "valid"
        return "expiring" if self.valid_until >= today else "expired"
