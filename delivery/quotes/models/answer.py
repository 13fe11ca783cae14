from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from delivery.quotes.models.quote import Quote
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Engagement
from engagements.models.visibility import in_engagements_of


class QuoteAnswerQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "QuoteAnswerQuerySet":
        """Those of visible engagements, for the firm alone."""
        is_outside = user.is_authenticated and (user.is_reviewer or user.is_auditor)
        return self.none() if is_outside else self.filter(in_engagements_of(
            user, "quote__engagement"))

    def unchecked(self) -> "QuoteAnswerQuerySet":
        """Those that nobody but who recorded them has looked at."""
        return self.filter(is_confirmed=None)


class QuoteAnswer(models.Model):
    """What the customer answered to a quote outside the portal, as the firm recorded it: it counts
    once a second person has compared it with its proof."""

    class Way(models.TextChoices):
        PAPER = "paper", _("Signed paper")
        MAIL = "mail", _("Mail")
        CALL = "call", _("Call or meeting")

    quote = models.ForeignKey(Quote, models.CASCADE, related_name="recorded_answers")
    is_accepted = models.BooleanField(_("the customer accepts"))
    way = models.CharField(_("way of the answer"), max_length=8, choices=Way)
    given_on = models.DateField(_("given on"))
    given_by = models.CharField(_("given by"), max_length=80)
    reason = models.TextField(_("reason given by the customer"), blank=True)
    file = models.FileField(upload_to="quote-answers/%Y/%m", max_length=300, blank=True)
    file_name = models.CharField(max_length=160, blank=True)
    sha256 = models.CharField(max_length=64, blank=True)
    recorded_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    recorded_at = models.DateTimeField(auto_now_add=True)
    is_confirmed = models.BooleanField(null=True)
    checked_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True,
                                   blank=True, related_name="+")
    checked_at = models.DateTimeField(null=True, blank=True)
    remark = models.CharField(_("remark"), max_length=400, blank=True)  # of the second person

    objects = QuoteAnswerQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["quote"], condition=models.Q(is_confirmed=None),
                                    name="one_unchecked_answer"),
            models.CheckConstraint(
                condition=models.Q(checked_by=None)
                | ~models.Q(checked_by=models.F("recorded_by")),
                name="answer_checked_by_second_person"),
            models.CheckConstraint(
                condition=models.Q(is_confirmed=None) | models.Q(checked_by__isnull=False),
                name="confirmed_answer_names_person"),
            models.CheckConstraint(
                condition=models.Q(way="call") | ~models.Q(file=""),
                name="written_answer_has_its_file"),
        ]

    def __str__(self) -> str:
        return f"{self.quote} · {self.get_way_display()}"

    @property
    def engagement(self) -> Engagement:
        return self.quote.engagement
