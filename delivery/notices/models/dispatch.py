from datetime import datetime

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from delivery.notices.models.channel import Channel
from delivery.notices.models.event import Event
from delivery.notices.send_outcomes import sentence
from engagements.access import Can, allowed
from engagements.models.visibility import in_engagements_of
from engagements.queue import ClaimableQuerySet, ClaimableRow


class DispatchQuerySet(ClaimableQuerySet):
    def visible_to(self, user) -> "DispatchQuerySet":
        """Administrators and managers, who look after channels; of engagements they see."""
        if not allowed(user, Can.MANAGE):
            return self.none()
        return self.filter(in_engagements_of(user, "event__engagement", or_none=True))

    def due(self, now: datetime) -> "DispatchQuerySet":
        """Waiting rows whose time has come, and rows whose sender died while it held them."""
        return self.filter(models.Q(state=Dispatch.State.PENDING, due_at__lte=now)
                           | models.Q(state=Dispatch.State.SENDING, claimed_until__lt=now))


class Dispatch(ClaimableRow):
    """An event on its way to a channel, or by e-mail to a person. The row is the truth.

    Rows of one addressee that are due together leave as one message.
    """

    class State(models.TextChoices):
        PENDING = "pending", _("Waiting")
        SENDING = "sending", _("Being sent")
        SENT = "sent", _("Sent")
        DEAD = "failed", _("Given up")
        WITHDRAWN = "withdrawn", _("Withdrawn")

    event = models.ForeignKey(Event, models.CASCADE, related_name="dispatches")
    channel = models.ForeignKey(Channel, models.CASCADE, null=True, blank=True,
                                related_name="dispatches")
    recipient = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True,
                                  related_name="notice_mails")
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.PENDING)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    due_at = models.DateTimeField(db_index=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=400, blank=True)

    objects = DispatchQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "dispatches"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(channel__isnull=False, recipient__isnull=True)
                | models.Q(channel__isnull=True, recipient__isnull=False),
                name="one_addressee"),
            models.UniqueConstraint(fields=["event", "channel"], name="once_per_channel"),
            models.UniqueConstraint(fields=["event", "recipient"], name="one_mail_each"),
            models.CheckConstraint(
                condition=~models.Q(state="sent") | models.Q(sent_at__isnull=False),
                name="sent_has_time"),
        ]

    def __str__(self) -> str:
        return f"#{self.pk} {self.event.kind}"

    @property
    def failure(self) -> str:
        """Why the last attempt failed, in the active language."""
        return sentence(self.error) if self.error else ""
