from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.migration_routes import InferenceRoute, TrainingRoute
from engagements.models.localization import localized
from engagements.models.optimistic_locked import OptimisticLocked
from engagements.models.visibility import in_engagements_of
from engagements.permissions import Role
from engagements.stages import Scope


class CustomerQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "CustomerQuerySet":
        """Administrators and managers see all; everybody else those of their own engagements."""
        if user.is_authenticated and user.sees_every_engagement:
            return self
        return self.filter(pk__among=Engagement.objects.visible_to(user).values("customer"))


class Customer(models.Model):
    """The customer, party A (甲方)."""

    name = models.CharField(_("registered name"), max_length=160, unique=True)
    name_en = models.CharField(_("English name"), max_length=160, blank=True)
    industry = models.CharField(_("industry"), max_length=80, blank=True)
    credit_code = models.CharField(_("unified social credit code"), max_length=18, blank=True)
    address = models.CharField(_("address"), max_length=240, blank=True)
    address_en = models.CharField(_("address (English)"), max_length=240, blank=True)
    contact_name = models.CharField(_("contact"), max_length=80, blank=True)
    contact_name_en = models.CharField(_("contact (English)"), max_length=80, blank=True)
    contact_phone = models.CharField(_("phone"), max_length=40, blank=True)
    contact_email = models.EmailField(_("e-mail"), blank=True)

    objects = CustomerQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def localized_name(self) -> str:
        return localized(self.name, self.name_en)

    @property
    def localized_contact_name(self) -> str:
        return localized(self.contact_name, self.contact_name_en)


class EngagementQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "EngagementQuerySet":
        """Administrators, managers and the firm's auditors see all; everybody else what they are a
        member of."""
        if not user.is_authenticated or user.has_ended:
            return self.none()
        if user.sees_every_engagement:
            return self
        mine = self if user.may_see_every_engagement else self.filter(
            pk__in=user.memberships.values("engagement"))
        return mine.filter(pk=user.only_engagement_id) if user.only_engagement_id else mine

    def keys_visible_to(self, user) -> models.QuerySet:
        """Their keys, for a condition: of members from the memberships alone."""
        if user.is_authenticated and not (
                user.has_ended or user.may_see_every_engagement or user.only_engagement_id):
            return user.memberships.order_by().values("engagement")
        return self.visible_to(user).order_by().values("pk")


class Engagement(models.Model):
    """One customer contract and its 1..N models."""

    class State(models.TextChoices):
        ACTIVE = "active", _("Active")
        ACCEPTED = "accepted", _("Accepted")
        CLOSED = "closed", pgettext_lazy("an engagement", "Closed")
        CANCELLED = "cancelled", pgettext_lazy("an engagement", "Cancelled")
        NOT_WON = "not_won", pgettext_lazy("an engagement", "Not won")

    class LossCause(models.TextChoices):
        PRICE = "price", _("Price")
        COMPETITOR = "competitor", _("Competitor chosen")
        BUDGET = "budget", _("No budget")
        TECHNICAL = "technical", _("Technical fit")
        TIMING = "timing", _("Timing")
        NO_ANSWER = "no_answer", _("No answer")
        OTHER = "other", _("Other")

    ENDED = frozenset({State.CLOSED, State.CANCELLED, State.NOT_WON})
    NEVER_DUE = frozenset({State.CANCELLED, State.NOT_WON})  # nothing is owed by its agreed end

    code = models.CharField(_("project code"), max_length=24, unique=True)
    name = models.CharField(_("name"), max_length=160)
    name_en = models.CharField(_("English name"), max_length=160, blank=True)
    customer = models.ForeignKey(Customer, models.PROTECT, related_name="engagements")
    contract_number = models.CharField(_("contract number"), max_length=60, blank=True)
    scope = models.CharField(_("scope"), max_length=12, choices=Scope, default=Scope.FULL)
    description = models.TextField(_("business need and scenario"), blank=True)
    description_en = models.TextField(_("business need (English)"), blank=True)
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.ACTIVE)
    starts_on = models.DateField(_("start date"), null=True, blank=True)
    ends_on = models.DateField(_("end date"), null=True, blank=True)
    ended_at = models.DateTimeField(_("ended on"), null=True, blank=True, editable=False)
    # Why it was cancelled; of a closed one what the manager noted.
    end_reason = models.TextField(_("reason"), blank=True, editable=False)
    # Of one that was not won, for the rate of won and lost.
    loss_cause = models.CharField(_("why it was lost"), max_length=12, choices=LossCause,
                                  blank=True, editable=False)
    # Of a cancelled one: what was done, what is paid and what still is to be paid.
    settlement = models.TextField(_("settlement"), blank=True, editable=False)
    has_practice_data = models.BooleanField(default=False, editable=False)
    agent_hours_limit = models.DecimalField(
        _("card hours of all agents"), max_digits=9, decimal_places=2, null=True, blank=True,
        validators=[MinValueValidator(0)], help_text=_(
            "What the jobs of all its agents may use together; empty: each agent's own limits."))
    created_at = models.DateTimeField(auto_now_add=True)

    objects = EngagementQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "code"]
        indexes = [
            models.Index(fields=["-created_at", "code", "id"], name="newest_engagements"),
            models.Index(fields=["state", "-created_at", "code"], name="engagements_by_state"),
            models.Index(fields=["scope", "-created_at", "code"], name="engagements_by_scope"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(ends_on__isnull=True)
                | models.Q(starts_on__isnull=True)
                | models.Q(ends_on__gte=models.F("starts_on")),
                name="engagement_ends_after_start",
            ),
            models.CheckConstraint(
                condition=~models.Q(state="cancelled")
                | ~(models.Q(end_reason="") | models.Q(settlement="")),
                name="cancelled_engagement_is_settled"),
            models.CheckConstraint(
                condition=models.Q(state="not_won") ^ models.Q(loss_cause=""),
                name="lost_engagement_has_cause"),
            models.CheckConstraint(
                condition=models.Q(agent_hours_limit=None) | models.Q(agent_hours_limit__gte=0),
                name="agent_hours_of_engagement_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.code} {self.localized_name}"

    @property
    def localized_name(self) -> str:
        return localized(self.name, self.name_en)

    @property
    def engagement(self) -> "Engagement":
        """Itself, so that it is asked as its rows are."""
        return self

    @property
    def has_ended(self) -> bool:
        return self.state in self.ENDED

    @property
    def localized_description(self) -> str:
        return localized(self.description, self.description_en)

    @property
    def days_late(self) -> int:
        """Days since the agreed end of an engagement that is still under way; 0 in time."""
        if self.ends_on is None or self.state != self.State.ACTIVE:
            return 0
        return max(0, (timezone.localdate() - self.ends_on).days)


class MembershipQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "MembershipQuerySet":
        """Those of the engagements that the user may see."""
        return self.filter(in_engagements_of(user))


class Membership(models.Model):
    """Who works on an engagement, and as what."""

    engagement = models.ForeignKey(Engagement, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    role = models.CharField(_("role"), max_length=20, choices=Role)

    objects = MembershipQuerySet.as_manager()

    class Meta:
        ordering = ["role", "user_id"]
        indexes = [models.Index(fields=["user", "engagement"], name="memberships_of_a_person")]
        constraints = [
            models.UniqueConstraint(fields=["engagement", "user"], name="one_membership_each")
        ]

    def __str__(self) -> str:
        return f"{self.user} · {self.get_role_display()}"


class MigratedModelQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "MigratedModelQuerySet":
        return self.filter(in_engagements_of(user))

    def current(self) -> "MigratedModelQuerySet":
        """Those that were not dropped from the project."""
        return self.filter(dropped_at=None)


class MigratedModel(OptimisticLocked):
    """A customer's AI model that travels the stages."""

    engagement = models.ForeignKey(Engagement, models.CASCADE, related_name="models")
    code = models.CharField(_("code"), max_length=24)
    name = models.CharField(_("name"), max_length=120)
    name_en = models.CharField(_("English name"), max_length=120, blank=True)
    task = models.CharField(_("task"), max_length=120, blank=True)
    task_en = models.CharField(_("task (English)"), max_length=120, blank=True)
    framework = models.CharField(_("framework"), max_length=60, blank=True)
    training_route = models.CharField(_("training route"), max_length=12, blank=True,
                                      choices=TrainingRoute)
    inference_route = models.CharField(_("inference route"), max_length=16, blank=True,
                                       choices=InferenceRoute)
    parameters_billion = models.DecimalField(
        _("parameters (billion)"), max_digits=9, decimal_places=3, null=True, blank=True
    )
    cards = models.PositiveSmallIntegerField(_("cards"), null=True, blank=True)
    repository = models.CharField(_("repository"), max_length=240, blank=True)
    scope = models.CharField(_("scope"), max_length=12, choices=Scope, default=Scope.FULL)
    position = models.PositiveSmallIntegerField(default=0)
    dropped_at = models.DateTimeField(null=True, blank=True, editable=False)
    drop_reason = models.CharField(_("reason"), max_length=240, blank=True, editable=False)

    objects = MigratedModelQuerySet.as_manager()

    class Meta:
        ordering = ["position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["engagement", "code"], name="model_code_unique")
        ]

    def __str__(self) -> str:
        return f"{self.code} {self.localized_name}"

    @property
    def localized_name(self) -> str:
        return localized(self.name, self.name_en)

    @property
    def localized_task(self) -> str:
        return localized(self.task, self.task_en)
