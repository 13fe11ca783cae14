"""What scripts sign in with instead of a password."""

import hashlib

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models.agent import Agent
from engagements.models.engagement import Engagement
from engagements.permissions import Role

KEY_PREFIX = "desk_"  # lets scanners of repositories know one
SHOWN_CHARACTERS = 12
MOST_DECIDING_DAYS = 30  # of a token that decides


def key_hash(key: str) -> str:
    """SHA-256 in hex; a key is 256 random bits, so no slow hash is needed."""
    return hashlib.sha256(key.encode()).hexdigest()


class ApiTokenQuerySet(AuditedQuerySet):
    def visible_to(self, user) -> "ApiTokenQuerySet":
        """One's own; administrators see everybody's."""
        if not user.is_authenticated:
            return self.none()
        return self if user.role == Role.ADMINISTRATOR else self.filter(owner=user)

    def in_force(self) -> "ApiTokenQuerySet":
        """Neither revoked nor expired, of somebody who may sign in."""
        return self.filter(
            models.Q(owner__access_ends_on=None)
            | models.Q(owner__access_ends_on__gte=timezone.localdate()),
            models.Q(agent=None) | models.Q(agent__in=Agent.objects.in_force()),
            revoked_at=None, expires_at__gt=timezone.now(), owner__is_active=True)

    def with_key(self, key: str) -> "ApiTokenQuerySet":
        """The one that this is the key of, if any."""
        return self.filter(key_hash=key_hash(key))


class ApiToken(models.Model):
    """A named key of a person or a service account; the key itself is never stored."""

    class Scope(models.TextChoices):
        READ = "read", pgettext_lazy("what an API token may do", "Read only")
        JOBS = "jobs", pgettext_lazy("what an API token may do", "Read, and run jobs")
        WRITE = "write", pgettext_lazy("what an API token may do", "All that its owner may do")
        DECIDE = "decide", pgettext_lazy("what an API token may do",
                                         "All that its owner may do, and decide in their name")
        AGENT = "agent", pgettext_lazy("what an API token may do", "Work, as an agent")
        CALENDAR = "calendar", pgettext_lazy("what an API token may do",
                                             "Only the calendar of plans")

    class Audience(models.TextChoices):
        API = "api", pgettext_lazy("what an API token is for", "The API itself: desk-cli, scripts")
        MCP = "mcp", pgettext_lazy("what an API token is for", "The desk's MCP server over HTTP")

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens",
                              verbose_name=_("owner"))
    name = models.CharField(_("name"), max_length=80)
    key_hash = models.CharField(max_length=64, unique=True)
    key_start = models.CharField(_("begins with"), max_length=SHOWN_CHARACTERS)
    scope = models.CharField(_("scope"), max_length=8, choices=Scope, default=Scope.READ)
    audience = models.CharField(_("is for"), max_length=3, choices=Audience, default=Audience.API)
    engagement = models.ForeignKey(Engagement, models.CASCADE, null=True, blank=True,
                                   related_name="api_tokens", verbose_name=_("engagement"))
    agent = models.ForeignKey(Agent, models.PROTECT, null=True, blank=True, related_name="tokens",
                              verbose_name=_("agent"))
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+",
                                   verbose_name=_("created by"))
    created_at = models.DateTimeField(_("created"), default=timezone.now)
    expires_at = models.DateTimeField(_("expires"))
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True)
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True)
    last_used_from = models.GenericIPAddressField(_("last used from"), null=True, blank=True)

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        verbose_name = _("API token")
        indexes = [models.Index(fields=["owner", "revoked_at"], name="apitoken_owner")]
        constraints = [
            models.CheckConstraint(condition=models.Q(expires_at__gt=models.F("created_at")),
                                   name="apitoken_expires_after_creation"),
            # An agent's token is one of its scope and of one engagement, and no other is.
            models.CheckConstraint(
                condition=models.Q(scope="agent", agent__isnull=False, engagement__isnull=False)
                | (models.Q(agent=None) & ~models.Q(scope="agent")),
                name="apitoken_of_an_agent"),
            models.CheckConstraint(condition=models.Q(audience="api") | models.Q(scope="agent"),
                                   name="apitoken_for_mcp_is_an_agent_s")]

    def __str__(self) -> str:
        return f"{self.name} ({self.key_start}…)"

    @property
    def may_decide(self) -> bool:
        """Whether a person's decisions can be made with it, while the installation allows that."""
        return self.scope == self.Scope.DECIDE and settings.DECIDING_TOKENS

    @property
    def is_in_force(self) -> bool:
        return self.revoked_at is None and self.expires_at > timezone.now()
