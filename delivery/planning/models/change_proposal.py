from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from delivery.planning.models.base import SharedQuerySet
from delivery.planning.models.change import ChangeRequest
from engagements.models import Engagement, MigratedModel


class ChangeProposal(models.Model):
    """What a person of the customer wants changed; the firm makes a change request of it, answers
    or declines."""

    class State(models.TextChoices):
        OPEN = "open", _("To be answered")
        CONVERTED = "converted", _("Change request drafted")
        ANSWERED = "answered", _("Answered, no change needed")
        DECLINED = "declined", _("Declined")
        WITHDRAWN = "withdrawn", _("Withdrawn")

    class Category(models.TextChoices):
        SCOPE = "scope", _("Scope")
        SCHEDULE = "schedule", _("Schedule")
        CRITERIA = "criteria", _("Acceptance criteria")
        OTHER = "other", _("Other")

    engagement = models.ForeignKey(Engagement, models.CASCADE, related_name="change_proposals")
    number = models.PositiveIntegerField(_("number"))
    title = models.CharField(_("what should change"), max_length=160)
    category = models.CharField(_("category"), max_length=10, choices=Category)
    model = models.ForeignKey(MigratedModel, models.SET_NULL, null=True, blank=True,
                              related_name="+", verbose_name=_("model concerned"))
    description = models.TextField(_("description"), max_length=4000)
    reason = models.TextField(_("reason"), max_length=4000)
    wanted_by = models.DateField(_("wanted by"), null=True, blank=True)
    state = models.CharField(_("state"), max_length=10, choices=State, default=State.OPEN)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    answer = models.TextField(_("answer of the supplier"), blank=True, max_length=4000)
    answered_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                    blank=True, related_name="+")
    answered_at = models.DateTimeField(null=True, blank=True)
    change = models.OneToOneField(ChangeRequest, models.PROTECT, null=True, blank=True,
                                  related_name="proposal")

    objects = SharedQuerySet.as_manager()

    class Meta:
        ordering = ["-number"]
        indexes = [models.Index(fields=["created_at", "id"], name="proposals_to_answer",
                                condition=models.Q(state="open"))]
        constraints = [
            models.UniqueConstraint(fields=["engagement", "number"],
                                    name="change_proposal_number_unique"),
            models.CheckConstraint(
                condition=models.Q(state__in=["open", "withdrawn"], answered_by=None,
                                   answered_at=None)
                | models.Q(state__in=["converted", "answered", "declined"],
                           answered_by__isnull=False, answered_at__isnull=False),
                name="change_proposal_answered_by_a_person"),
            models.CheckConstraint(
                condition=models.Q(state="converted", change__isnull=False)
                | ~models.Q(state="converted") & models.Q(change=None),
                name="converted_proposal_has_its_change"),
            models.CheckConstraint(
                condition=~models.Q(state__in=["answered", "declined"]) | ~models.Q(answer=""),
                name="change_proposal_answer_has_words"),
        ]

    def __str__(self) -> str:
        return f"{self.code} {self.title}"

    @property
    def code(self) -> str:
        return f"CP-{self.engagement.code}-{self.number:03}"
