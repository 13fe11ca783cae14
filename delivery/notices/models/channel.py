from datetime import datetime
from urllib.parse import urlsplit

from django.db import models
from django.utils.translation import gettext_lazy as _

from delivery.notices.channel_kinds import LONGEST_CODE, channel_choices, kinds_that
from delivery.notices.models.preference import Pace
from delivery.notices.send_outcomes import sentence
from engagements.access import Can, allowed
from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models import Engagement
from engagements.models.visibility import in_engagements_of
from toolreaders.masking import MASK
from workers.encrypted_field import EncryptedTextField


class ChannelQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "ChannelQuerySet":
        """Administrators and managers, of the firm and of engagements they see; a channel's address
        is a secret."""
        if not allowed(user, Can.MANAGE):
            return self.none()
        return self.filter(in_engagements_of(user, or_none=True))


class Channel(models.Model):
    """A group chat's robot, or a system that takes signed webhooks (DOMAIN 13)."""

    class State(models.TextChoices):
        ACTIVE = "active", _("Switched on")
        CLOSED = "closed", _("Switched off")
        DISABLED = "disabled", _("Switched off after failures")

    name = models.CharField(_("name"), max_length=80, unique=True)
    kind = models.CharField(_("kind"), max_length=LONGEST_CODE, choices=channel_choices)
    url = EncryptedTextField(_("address"))
    secret = EncryptedTextField(_("signing secret"), blank=True)
    engagement = models.ForeignKey(
        Engagement, models.CASCADE, null=True, blank=True, related_name="notice_channels",
        verbose_name=_("engagement"), help_text=_("Leave empty for all engagements and nodes."))
    kinds = models.JSONField(_("events"), default=list, blank=True)
    is_for_customers = models.BooleanField(
        _("customers read it"), default=False,
        help_text=_("Only events meant for the customer are sent."))
    pace = models.CharField(
        _("pace"), max_length=8, default=Pace.NOW,
        choices=[choice for choice in Pace.choices if choice[0] != Pace.OFF])
    language = models.CharField(_("language"), max_length=10, default="zh-hans",
                                choices=[("zh-hans", "简体中文"), ("en", "English")])
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.ACTIVE)
    # Of webhooks: signs beside `secret` until then; a receiver changes over in its own time.
    previous_secret = EncryptedTextField(blank=True, editable=False)
    previous_secret_until = models.DateTimeField(null=True, editable=False)
    failures = models.PositiveSmallIntegerField(
        _("failures in a row"), default=0, editable=False)
    tokens = models.FloatField(default=0, editable=False)
    refilled_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ChannelQuerySet.as_manager()
    new_secret = ""  # what a service has just made, to be shown this once

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def masked_url(self) -> str:
        """Scheme, host and a port of its own; path and query are the secret."""
        parts = urlsplit(self.url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname}{port}/{MASK}"

    @property
    def makes_secret(self) -> bool:
        return self.kind in kinds_that("makes_secret")

    @property
    def may_repeat(self) -> bool:
        return self.kind in kinds_that("may_repeat")

    def signing_secrets(self, now: datetime) -> list[str]:
        """The newest first; the one before it for as long as it counts."""
        old = self.previous_secret_until is not None and now < self.previous_secret_until
        return [self.secret, *([self.previous_secret] if old else [])]

    def takes(self, kind: str, is_for_customers: bool) -> bool:
        """Whether an event of this kind goes here; no kinds chosen means all."""
        return (not self.kinds or kind in self.kinds) and (
            is_for_customers or not self.is_for_customers)


class SendAttemptQuerySet(models.QuerySet):
    def visible_to(self, user) -> "SendAttemptQuerySet":
        """Those of visible channels."""
        return self.filter(channel__in=Channel.objects.visible_to(user))


class SendAttempt(models.Model):
    """One message that was tried on a channel, and what came back. Never the address."""

    channel = models.ForeignKey(Channel, models.CASCADE, related_name="attempts")
    at = models.DateTimeField()
    events = models.PositiveIntegerField(_("events"), default=0)
    is_test = models.BooleanField(default=False)
    is_ok = models.BooleanField()
    http_status = models.PositiveSmallIntegerField(null=True)
    code = models.CharField(max_length=40, blank=True)
    error = models.CharField(max_length=400, blank=True)
    duration_ms = models.PositiveIntegerField(default=0)
    # Of webhooks, for whoever writes the receiver: its number in `webhook-id`, what was sent, and
    # how the answer began.
    message_id = models.CharField(max_length=80, blank=True)
    payload = models.TextField(blank=True)
    answer = models.CharField(max_length=1000, blank=True)

    objects = SendAttemptQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]

    @property
    def failure(self) -> str:
        """Why it did not arrive, in the active language."""
        return sentence(self.error) if self.error else ""
