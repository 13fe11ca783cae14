from django.contrib.auth.models import AbstractUser, UserManager
from django.db import models
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from engagements.audit_rows.tracking import AuditedQuerySet
from engagements.models.localization import localized
from engagements.permissions import OUTSIDE, Role

SEE_EVERY_ENGAGEMENT = (Role.ADMINISTRATOR, Role.MANAGER)


class People(UserManager.from_queryset(AuditedQuerySet)):
    """The accounts."""

    use_in_migrations = False


class User(AbstractUser):
    """A person who signs in. `role` says what they may do, memberships say where."""

    role = models.CharField(_("role"), max_length=20, choices=Role, default=Role.CONSULTANT)
    full_name = models.CharField(_("name"), max_length=80, blank=True)
    full_name_en = models.CharField(_("name (English)"), max_length=80, blank=True)
    job_title = models.CharField(_("job title"), max_length=80, blank=True)
    job_title_en = models.CharField(_("job title (English)"), max_length=80, blank=True)
    organisation = models.CharField(_("organisation"), max_length=160, blank=True)
    organisation_en = models.CharField(_("organisation (English)"), max_length=160, blank=True)
    phone = models.CharField(_("phone"), max_length=40, blank=True)
    is_service = models.BooleanField(
        _("service account"), default=False,
        help_text=_("A program, not a person: it has no password and works with API tokens only."))
    audits_firm = models.BooleanField(
        _("audits the whole firm"), default=False,
        help_text=_("Of an auditor: all engagements; otherwise those whose team they are on."))
    access_ends_on = models.DateField(
        _("access ends on"), null=True, blank=True,
        help_text=_("The last day on which the account may be used; empty: no end."))
    # The API token (models.ApiToken) that this object signed in with; pages have none.
    token = None
    # When the session of a page began, seconds of the epoch; without one (commands, tests) None.
    signed_in_at: float | None = None

    objects = People()

    class Meta(AbstractUser.Meta):
        indexes = [models.Index(fields=["-is_active", "role", "username"], name="people_listed"),
                   models.Index(fields=["role", "id"], name="people_by_role")]

    def __str__(self) -> str:
        return self.localized_name

    def get_full_name(self) -> str:
        """The name in every language: for what is stored and for hashes."""
        return self.full_name or self.username

    @property
    def localized_name(self) -> str:
        return localized(self.get_full_name(), self.full_name_en)

    @property
    def localized_job_title(self) -> str:
        return localized(self.job_title, self.job_title_en)

    @property
    def localized_organisation(self) -> str:
        return localized(self.organisation, self.organisation_en)

    @property
    def is_reviewer(self) -> bool:
        return self.role == Role.REVIEWER

    @property
    def is_auditor(self) -> bool:
        return self.role == Role.AUDITOR

    @property
    def is_outside(self) -> bool:
        """Whether they read what left the firm, not its drafts and internal notes."""
        return self.role in OUTSIDE

    @property
    def has_ended(self) -> bool:
        """Whether the last day of the account is over."""
        return self.access_ends_on is not None and self.access_ends_on < timezone.localdate()

    @cached_property
    def stands_in_for(self) -> frozenset[int]:
        """Keys of the colleagues who are away today and delegated to this person."""
        found = self.delegated_to.in_force(timezone.localdate())
        return frozenset(found.values_list("user", flat=True))

    @property
    def is_awaited(self) -> bool:
        """Whether somebody was invited and has chosen no password so far."""
        return (self.is_active and not self.is_service and self.last_login is None
                and not self.has_usable_password())

    @property
    def may_see_every_engagement(self) -> bool:
        """By role, whatever the token that signed in."""
        return not self.has_ended and (
            self.role in SEE_EVERY_ENGAGEMENT or (self.is_auditor and self.audits_firm))

    @property
    def sees_every_engagement(self) -> bool:
        return self.may_see_every_engagement and self.only_engagement_id is None

    @property
    def agent(self):
        """The agent (models.Agent) that signed in in this person's name, if it was one."""
        return self.token.agent if self.token else None

    @property
    def only_engagement_id(self) -> int | None:
        """The only engagement that the token reaches; None: no such limit."""
        return self.token.engagement_id if self.token else None
