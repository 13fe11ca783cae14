from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from assessments.models import Criterion
from delivery.reports.models import Document
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Engagement, MigratedModel


class ReviewQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "ReviewQuerySet":
        """Reviews of the documents that the user may see."""
        return self.filter(document__in=Document.objects.visible_to(user))

    def locked(self, review: "Review") -> "Review":
        """The review's row as it is now, locked until the transaction ends."""
        return self.select_for_update(of=("self",), no_key=True).select_related(
            "document__engagement").get(pk=review.pk)


class Review(models.Model):
    """The customer's review of an issued acceptance document."""

    class Decision(models.TextChoices):
        ACCEPTED = "accepted", _("Passed")
        CONDITIONAL = "conditional", _("Passed with conditions")
        REJECTED = "rejected", _("Failed")
        DEEMED = "deemed", _("Deemed accepted under the contract")

    PASSING = (Decision.ACCEPTED, Decision.CONDITIONAL, Decision.DEEMED)

    class Phase(models.TextChoices):
        PRELIMINARY = "preliminary", _("Provisional acceptance")
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
    # Copy of the contract's acceptance terms, made when the review was opened.
    terms = models.JSONField(default=dict, blank=True)
    due_on = models.DateField(_("review deadline"), null=True, blank=True)
    trial_ends_on = models.DateField(_("end of the trial period"), null=True, blank=True)

    objects = ReviewQuerySet.as_manager()
    replaced_decider = None  # whose decision was just replaced by a colleague's

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(decision="") | models.Q(decided_at__isnull=False),
                name="decision_has_time",
            )
        ]

    def __str__(self) -> str:
        return str(self.document)

    @property
    def engagement(self) -> Engagement:
        return self.document.engagement

    def open_blocking(self) -> "models.QuerySet[Condition]":
        """Issues that hold up the final acceptance and are not closed."""
        return self.conditions.blocking()

    def open_comments(self) -> "models.QuerySet[ReviewComment]":
        """Remarks that began an exchange and are not resolved."""
        return self.comments.for_customers().filter(
            answers=None, resolved_at=None).select_related(
            "author", "model", "criterion__definition")

    def missing(self) -> "list[Receipt]":
        """Deliverables of which the newest word is that they are missing or wrong."""
        newest = {row.key: row for row in self.receipts.all()}
        return [row for row in newest.values() if not row.is_complete]


CHOSEN = [(value, label) for value, label in Review.Decision.choices
          if value != Review.Decision.DEEMED]


class CommentQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "CommentQuerySet":
        """Without the team's internal comments for reviewers of the customer."""
        return self.filter(is_internal=False) if user.is_outside else self

    def for_customers(self) -> "CommentQuerySet":
        """Comments that documents and bundles contain."""
        return self.filter(is_internal=False)


class ReviewComment(models.Model):
    """A remark on the document, a model, or a criterion with its figure; or an answer to one."""

    review = models.ForeignKey(Review, models.CASCADE, related_name="comments")
    model = models.ForeignKey(MigratedModel, models.CASCADE, null=True, blank=True,
                              related_name="+")
    criterion = models.ForeignKey(Criterion, models.CASCADE, null=True, blank=True,
                                  related_name="+")
    answers = models.ForeignKey("self", models.CASCADE, null=True, blank=True,
                                related_name="replies")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    text = models.TextField(_("comment"))
    is_internal = models.BooleanField(_("only for the team"), default=False)
    at = models.DateTimeField(auto_now_add=True)
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolved_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                    blank=True, related_name="+")

    objects = CommentQuerySet.as_manager()

    class Meta:
        ordering = ["at", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(resolved_at=None) | models.Q(resolved_by__isnull=False),
                name="resolved_comment_names_who"),
        ]


class Receipt(models.Model):
    """A named person of the customer received one deliverable, or says what is wrong (AR-13)."""

    review = models.ForeignKey(Review, models.PROTECT, related_name="receipts")
    key = models.CharField(max_length=120)  # of the item in the review's list of deliverables
    title = models.CharField(_("deliverable"), max_length=200)
    version = models.CharField(_("version"), max_length=20, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    is_complete = models.BooleanField(_("received complete"), default=True)
    remark = models.CharField(_("remark"), max_length=400, blank=True)
    received_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["at", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["review", "key"],
                                    condition=models.Q(is_complete=True),
                                    name="received_once"),
            models.CheckConstraint(condition=models.Q(is_complete=True) | ~models.Q(remark=""),
                                   name="missing_deliverable_has_remark"),
        ]


class ModelDecision(models.Model):
    """The customer's decision on one model of the document."""

    review = models.ForeignKey(Review, models.CASCADE, related_name="model_decisions")
    model = models.ForeignKey(MigratedModel, models.PROTECT, related_name="decisions")
    decision = models.CharField(_("decision"), max_length=12, choices=CHOSEN)
    reason = models.TextField(_("reason"), blank=True)

    objects = AuditedQuerySet.as_manager()

    class Meta:
        ordering = ["model__position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["review", "model"], name="one_decision_per_model"),
            models.CheckConstraint(
                condition=~models.Q(decision="rejected") | ~models.Q(reason=""),
                name="rejected_model_has_reason"),
        ]


class ConditionQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "ConditionQuerySet":
        return self.filter(review__in=Review.objects.visible_to(user))

    def blocking(self) -> "ConditionQuerySet":
        """Issues that hold up the final acceptance and are not closed."""
        return self.filter(closed_at=None, effect=Condition.Effect.BLOCKS)


class Condition(models.Model):
    """An outstanding issue of a conditional acceptance (遗留问题)."""

    class Effect(models.TextChoices):
        BLOCKS = "blocks", _("closed before the final acceptance")
        NONE = "none", _("does not hold up the final acceptance")

    review = models.ForeignKey(Review, models.CASCADE, related_name="conditions")
    model = models.ForeignKey(MigratedModel, models.PROTECT, null=True, blank=True,
                              related_name="+")
    description = models.CharField(_("outstanding issue"), max_length=400)
    owner = models.CharField(_("owner"), max_length=80)  # as named when it was decided
    owner_user = models.ForeignKey(  # empty for somebody without an account
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+",
        verbose_name=_("owner"))
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

    objects = ConditionQuerySet.as_manager()

    class Meta:
        ordering = ["due_on", "pk"]

    def __str__(self) -> str:
        return self.description

    @property
    def engagement(self) -> Engagement:
        return self.review.document.engagement
