from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Engagement, MigratedModel
from engagements.models.engagement import localized
from engagements.models.optimistic_locked import OptimisticLocked
from engagements.stages import Stage
from workers.models import Artifact


class DeliverableQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "DeliverableQuerySet":
        """Of visible engagements; the customer sees what is owed to him."""
        return self.filter(engagement__in=Engagement.objects.visible_to(user))

    def owed(self) -> "DeliverableQuerySet":
        """Those that nothing fulfils yet."""
        return self.filter(delivered_at=None)


class Deliverable(OptimisticLocked):
    """Something the contract owes the customer, and the thing that fulfils it."""

    engagement = models.ForeignKey(Engagement, models.CASCADE, related_name="deliverables")
    number = models.PositiveIntegerField(_("number"))
    code = models.CharField(max_length=16, blank=True)  # of the agreed list, else empty
    title = models.CharField(_("deliverable"), max_length=160)
    title_en = models.CharField(_("deliverable (English)"), max_length=160, blank=True)
    model = models.ForeignKey(MigratedModel, models.PROTECT, null=True, blank=True,
                              related_name="deliverables", verbose_name=_("model"))
    rule = models.CharField(_("accepted when"), max_length=400, blank=True)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True,
                              related_name="+", verbose_name=_("responsible"))
    due_stage = models.CharField(_("due at the end of"), max_length=16, choices=Stage,
                                 default=Stage.ACCEPT)
    artifact = models.ForeignKey(Artifact, models.PROTECT, null=True, blank=True,
                                 related_name="+", verbose_name=_("stored file"))
    repository = models.CharField(_("repository"), max_length=240, blank=True)
    commit = models.CharField(_("commit"), max_length=64, blank=True)
    image_digest = models.CharField(_("digest of the container image"), max_length=80, blank=True)
    same_content_reason = models.CharField(
        _("why its content may stand for other models, too"), max_length=400, blank=True)
    delivered_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                     blank=True, related_name="+")
    delivered_at = models.DateTimeField(null=True, blank=True)

    objects = DeliverableQuerySet.as_manager()

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["engagement", "number"],
                                    name="deliverable_number_unique"),
            models.CheckConstraint(
                condition=models.Q(delivered_at=None) | models.Q(artifact__isnull=False)
                | ~models.Q(commit="") | ~models.Q(image_digest=""),
                name="delivered_names_what_fulfils_it"),
        ]

    def __str__(self) -> str:
        return f"D-{self.number:02} {self.localized_title}"

    @property
    def localized_title(self) -> str:
        return localized(self.title, self.title_en)

    @property
    def proof(self) -> str:
        """What fulfils it: file with its checksum, commit or image digest; empty for nothing."""
        if self.artifact:
            return f"{self.artifact.name} · SHA-256 {self.artifact.sha256}"
        return self.image_digest or " @ ".join(filter(None, (self.repository, self.commit)))
