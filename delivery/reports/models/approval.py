from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from delivery.reports.models.document import Document
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Role
from engagements.models.engagement import localized
from engagements.permissions import OUTSIDE

WITHIN_THE_FIRM = [(value, label) for value, label in Role.choices if value not in OUTSIDE]


class Step(models.Model):
    """What a step of a chain asks for: its place, its words, and who may do it."""

    class Action(models.TextChoices):
        REVIEW = "review", _("Review")
        APPROVE = "approve", _("Approve and issue")

    action = models.CharField(_("step"), max_length=8, choices=Action, default=Action.REVIEW)
    position = models.PositiveSmallIntegerField(_("position"))  # steps of one position co-sign
    title = models.CharField(_("title"), max_length=60)
    title_en = models.CharField(_("English title"), max_length=60, blank=True)
    role = models.CharField(_("role"), max_length=20, choices=WITHIN_THE_FIRM, blank=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.localized_title

    @property
    def localized_title(self) -> str:
        return localized(self.title, self.title_en)


class ApprovalStep(Step):
    """A step of the chain that the firm set for a kind; without any the shipped chain holds."""

    kind = models.CharField(_("kind"), max_length=4, db_index=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["kind", "position", "pk"]
        constraints = [models.UniqueConstraint(
            fields=["kind"], condition=models.Q(action="approve"), name="one_approval_per_kind")]


class ApprovalTurn(Step):
    """A step of one document's way, as the chain was when it was submitted."""

    document = models.ForeignKey(Document, models.CASCADE, related_name="turns")
    holder = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True,
                               related_name="+")  # the one person whose turn it is, if named
    done_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True,
                                related_name="+")
    done_at = models.DateTimeField(null=True, blank=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["document", "holder"], name="one_open_turn_per_holder",
                condition=models.Q(holder__isnull=False, done_by=None)),
            models.CheckConstraint(
                condition=models.Q(done_by__isnull=True, done_at__isnull=True)
                | models.Q(done_by__isnull=False, done_at__isnull=False),
                name="done_turn_has_person_and_time")]
