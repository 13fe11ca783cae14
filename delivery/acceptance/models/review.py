from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from delivery.reports.models import Document
from engagements.models import MigratedModel


class Review(models.Model):
    """The customer's review of an issued acceptance document."""

    class Decision(models.TextChoices):
        ACCEPTED = "accepted", _("Passed")
        CONDITIONAL = "conditional", _("Passed with conditions")
        REJECTED = "rejected", _("Not passed")
        DEEMED = "deemed", _("Deemed accepted under the contract")

    class Phase(models.TextChoices):
        PRELIMINARY = "preliminary", _("Preliminary acceptance")
        FINAL = "final", _("Final acceptance")

    document = models.OneToOneField(Document, models.PROTECT, related_name="review")
    phase = models.CharField(_("phase"), max_length=12, choices=Phase, default=Phase.FINAL)
    decision = models.CharField(_("decision"), max_length=12, choices=Decision, blank=True)
    reason = models.TextField(_("reason or conditions"), blank=True)
    retest_on = models.DateField(_("date of the repeated inspection"), null=True, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True,
                                   related_name="+")
    decided_at = models.DateTimeField(null=True, blank=True)
    opened_at = models.DateTimeField(auto_now_add=True)
    # What the contract says of acceptance, as it stood when the review was opened.
    terms = models.JSONField(default=dict, blank=True)
    due_on = models.DateField(_("review deadline"), null=True, blank=True)
    trial_ends_on = models.DateField(_("end of the trial period"), null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(decision="") | models.Q(decided_at__isnull=False),
                name="decision_has_time",
            )
        ]

    def __str__(self) -> str:
        return str(self.document)


CHOSEN = [(value, label) for value, label in Review.Decision.choices
          if value != Review.Decision.DEEMED]


class ReviewComment(models.Model):
    """A remark on the document, on a model or on one of its figures."""

    review = models.ForeignKey(Review, models.CASCADE, related_name="comments")
    model = models.ForeignKey(MigratedModel, models.CASCADE, null=True, blank=True,
                              related_name="+")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    text = models.TextField(_("comment"))
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["at", "pk"]


class ModelDecision(models.Model):
    """The customer's decision on one model of the document."""

    review = models.ForeignKey(Review, models.CASCADE, related_name="model_decisions")
    model = models.ForeignKey(MigratedModel, models.PROTECT, related_name="decisions")
    decision = models.CharField(_("decision"), max_length=12, choices=CHOSEN)
    reason = models.TextField(_("reason"), blank=True)

    class Meta:
        ordering = ["model__position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["review", "model"], name="one_decision_per_model"),
            models.CheckConstraint(
                condition=~models.Q(decision="rejected") | ~models.Q(reason=""),
                name="rejected_model_has_reason"),
        ]


class Condition(models.Model):
    """An outstanding issue of a conditional acceptance (遗留问题)."""

    class Effect(models.TextChoices):
        BLOCKS = "blocks", _("closed before the final acceptance")
        NONE = "none", _("does not hold up the final acceptance")

    review = models.ForeignKey(Review, models.CASCADE, related_name="conditions")
    model = models.ForeignKey(MigratedModel, models.PROTECT, null=True, blank=True,
                              related_name="+")
    description = models.CharField(_("outstanding issue"), max_length=400)
    owner = models.CharField(_("owner"), max_length=80)
    due_on = models.DateField(_("due date"))
    effect = models.CharField(_("effect on the final acceptance"), max_length=8, choices=Effect,
                              default=Effect.BLOCKS)
    reported_at = models.DateTimeField(null=True, blank=True)
    reported_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                    blank=True, related_name="+")
    report = models.CharField(_("how it was dealt with"), max_length=400, blank=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    closed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True,
                                  related_name="+")

    class Meta:
        ordering = ["due_on", "pk"]

    def __str__(self) -> str:
        return self.description
