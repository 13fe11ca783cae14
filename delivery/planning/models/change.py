from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from assessments.models import CriteriaSet
from delivery.planning.models.issued import EditionQuerySet, EditionRow
from delivery.planning.models.plan import PlanBaseline
from delivery.quotes.models import Quote
from engagements.models import Engagement
from engagements.models.optimistic_locked import OptimisticLocked


class ChangeQuerySet(EditionQuerySet):
    def visible_to(self, user) -> "ChangeQuerySet":
        """Customers see what was put to them, not the firm's drafts; auditors no prices."""
        if user.is_authenticated and user.is_auditor:
            return self.none()
        found = super().visible_to(user)
        if user.is_authenticated and user.is_reviewer:
            return found.exclude(state=ChangeRequest.State.DRAFT)
        return found


class ChangeRequest(EditionRow, OptimisticLocked):
    """A change (变更单): before, after, its effects, and the approvals of both sides."""

    class State(models.TextChoices):
        DRAFT = "draft", _("Draft")
        SUBMITTED = "submitted", _("Submitted")
        APPLIED = "applied", _("In force")
        REJECTED = "rejected", _("Rejected")

    class Category(models.TextChoices):
        SCOPE = "scope", _("Scope")
        SCHEDULE = "schedule", _("Schedule")
        PRICE = "price", _("Price")
        CRITERIA = "criteria", _("Acceptance criteria")

    WORKING_STATES = (State.DRAFT,)
    EVENT_TIMES = ("result_at", "applied_at", "customer_approved_at", "firm_approved_at",
                   "submitted_at")

    engagement = models.ForeignKey(Engagement, models.CASCADE, related_name="change_requests")
    number = models.PositiveIntegerField(_("number"))
    title = models.CharField(_("name"), max_length=160)
    category = models.CharField(_("category"), max_length=10, choices=Category)
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.DRAFT)
    requested_by = models.CharField(_("requested by (organisation, person)"), max_length=120)
    reason = models.TextField(_("reason"))
    before = models.TextField(_("before"))
    after = models.TextField(_("after"))
    effect_on_scope = models.TextField(_("effect on scope"), blank=True)
    effect_on_schedule = models.TextField(_("effect on schedule"), blank=True)
    effect_on_price = models.TextField(_("effect on price"), blank=True)
    effect_on_quality = models.TextField(_("effect on quality"), blank=True)
    effect_on_criteria = models.TextField(_("effect on criteria"), blank=True)
    measures = models.TextField(_("measures"), blank=True)
    quote = models.ForeignKey(Quote, models.PROTECT, null=True, blank=True,
                              related_name="change_requests",
                              verbose_name=_("quote that gets a new version"))
    ends_on = models.DateField(_("new end of the contract"), null=True, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    facts = models.JSONField(default=dict, blank=True)  # what both sides sign, see `facts`
    content_hash = models.CharField(max_length=64, blank=True)
    firm_approved_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                         blank=True, related_name="+")
    firm_approved_at = models.DateTimeField(null=True, blank=True)
    customer_approved_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                             blank=True, related_name="+")
    customer_approved_at = models.DateTimeField(null=True, blank=True)
    rejected_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                    blank=True, related_name="+")
    rejection = models.TextField(_("reason for the rejection"), blank=True)
    applied_at = models.DateTimeField(null=True, blank=True)
    result = models.TextField(_("follow-up and result"), blank=True)
    result_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True,
                                  related_name="+")
    result_at = models.DateTimeField(null=True, blank=True)
    new_criteria = models.ForeignKey(CriteriaSet, models.PROTECT, null=True, blank=True,
                                     related_name="+")
    new_quote = models.ForeignKey(Quote, models.PROTECT, null=True, blank=True, related_name="+")
    new_estimate = models.ForeignKey("planning.EffortEstimate", models.PROTECT, null=True,
                                     blank=True, related_name="+")
    new_baseline = models.ForeignKey(PlanBaseline, models.PROTECT, null=True, blank=True,
                                     related_name="+")

    objects = ChangeQuerySet.as_manager()

    class Meta:
        ordering = ["-number"]
        indexes = [models.Index(fields=["created_at", "id"], name="changes_to_approve",
                                condition=models.Q(state="submitted"))]
        constraints = [
            models.UniqueConstraint(fields=["engagement", "number"], name="change_number_unique"),
            models.CheckConstraint(
                condition=models.Q(state="draft") | ~models.Q(content_hash=""),
                name="submitted_change_has_hash"),
            models.CheckConstraint(
                condition=~models.Q(state="applied") | models.Q(
                    applied_at__isnull=False, firm_approved_at__isnull=False,
                    customer_approved_at__isnull=False),
                name="applied_change_has_both_approvals"),
            models.CheckConstraint(
                condition=models.Q(result="") | models.Q(
                    state="applied", result_by__isnull=False, result_at__isnull=False),
                name="change_result_follows_its_force"),
        ]

    def __str__(self) -> str:
        return f"{self.code} {self.title}"

    @property
    def code(self) -> str:
        return f"CR-{self.engagement.code}-{self.number:03}"
