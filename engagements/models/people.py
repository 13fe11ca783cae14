from django.contrib.auth.models import AbstractUser, UserManager
from django.db import models
from django.utils.translation import gettext_lazy as _

from engagements.audit_rows.tracking import AuditedQuerySet


class Role(models.TextChoices):
    ADMINISTRATOR = "administrator", _("Administrator")
    MANAGER = "manager", _("Project manager")
    CONSULTANT = "consultant", _("Delivery consultant")
    SALES = "sales", _("Sales / finance")
    OPERATOR = "operator", _("Node operator")
    REVIEWER = "reviewer", _("Customer reviewer")


class People(UserManager.from_queryset(AuditedQuerySet)):
    """The accounts."""

    use_in_migrations = False


class User(AbstractUser):
    """A person who signs in. `role` says what they may do, memberships say where."""

    role = models.CharField(_("role"), max_length=20, choices=Role, default=Role.CONSULTANT)
    full_name = models.CharField(_("name"), max_length=80, blank=True)
    job_title = models.CharField(_("job title"), max_length=80, blank=True)
    organisation = models.CharField(_("organisation"), max_length=160, blank=True)
    phone = models.CharField(_("phone"), max_length=40, blank=True)

    objects = People()

    def __str__(self) -> str:
        return self.full_name or self.username

    @property
    def is_reviewer(self) -> bool:
        return self.role == Role.REVIEWER

    @property
    def sees_every_engagement(self) -> bool:
        return self.role in (Role.ADMINISTRATOR, Role.MANAGER)
