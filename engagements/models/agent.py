"""Programs that work for a person in one engagement."""

from decimal import Decimal

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models.engagement import Engagement, Membership
from engagements.models.user import SEE_EVERY_ENGAGEMENT
from engagements.models.visibility import in_engagements_of


class AgentQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "AgentQuerySet":
        """Those of visible engagements: the customer sees, too, who works for them."""
        return self.filter(in_engagements_of(user))

    def in_force(self) -> "AgentQuerySet":
        """Neither stopped nor expired, of an owner who still belongs to the engagement."""
        is_member = models.Exists(Membership.objects.filter(
            engagement=models.OuterRef("engagement"), user=models.OuterRef("owner")))
        return self.filter(
            models.Q(owner__role__in=SEE_EVERY_ENGAGEMENT) | is_member,
            ended_at=None, expires_at__gt=timezone.now(), owner__is_active=True)


class Agent(models.Model):
    """An agent has no account: it acts in its owner's name, and what it does is its owner's doing.

    What harness, language model and skill it is made of is what its owner says, not known here.
    Hours are card hours: of a queued job its cards for its time limit, of an ended one its use.
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="agents",
                              verbose_name=_("owner"))
    engagement = models.ForeignKey(Engagement, models.PROTECT, related_name="agents",
                                   verbose_name=_("engagement"))
    name = models.CharField(_("name"), max_length=80)
    harness = models.CharField(_("harness (claimed)"), max_length=80, blank=True, help_text=_(
        "The program that runs it, as its owner says: Claude Code, Codex, a script of one's own."))
    language_model = models.CharField(_("language model (claimed)"), max_length=80, blank=True)
    skill = models.CharField(_("skill (claimed)"), max_length=160, blank=True, help_text=_(
        "Name or address of the instructions that it follows."))
    skill_commit = models.CharField(_("commit of the skill (claimed)"), max_length=64, blank=True)
    hours_limit = models.DecimalField(
        _("card hours in all"), max_digits=9, decimal_places=2, default=Decimal(8),
        validators=[MinValueValidator(0)])
    hours_per_day = models.DecimalField(
        _("card hours a day"), max_digits=9, decimal_places=2, default=Decimal(8),
        validators=[MinValueValidator(0)])
    created_at = models.DateTimeField(_("created"), default=timezone.now)
    expires_at = models.DateTimeField(_("expires"))
    ended_at = models.DateTimeField(_("stopped"), null=True, blank=True)

    objects = AgentQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        verbose_name = _("agent")
        indexes = [models.Index(fields=["engagement", "-id"], name="agents_by_engagement")]
        constraints = [
            models.CheckConstraint(condition=models.Q(expires_at__gt=models.F("created_at")),
                                   name="agent_expires_after_creation"),
            models.CheckConstraint(
                condition=models.Q(hours_limit__gte=0, hours_per_day__gte=0),
                name="agent_hours_not_negative")]

    def __str__(self) -> str:
        return f"{self.name} ({self.owner})"

    @property
    def is_in_force(self) -> bool:
        return Agent.objects.filter(pk=self.pk).in_force().exists()


def credited(person, agent: Agent | None) -> str:
    """Who did it, with the agent through which it was done, if it was one."""
    return gettext("%(person)s, through the agent “%(agent)s”") % {
        "person": person, "agent": agent.name} if agent else str(person)
