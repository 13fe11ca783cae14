"""What an empty installation needs before the first engagement can run, in order."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from delivery.documents.models import CompanyProfile
from engagements.access import Can, allowed
from engagements.addresses import address
from engagements.models import Engagement, Role, User
from engagements.text.text_joining import listed
from workers.models import Node

NEEDED = (Role.MANAGER, Role.CONSULTANT, Role.SALES, Role.REVIEWER)


@dataclass(frozen=True)
class OnboardingStep:
    """`detail` says what is missing; `url` is empty for those who may not do it."""

    label: str
    detail: str
    url: str
    is_done: bool


def onboarding(user: User) -> list[OnboardingStep]:
    """The list while it is not worked off; empty once an engagement has models, and for
    customers."""
    if user.is_reviewer or Engagement.objects.filter(models__isnull=False).exists():
        return []
    is_administrator = user.role == Role.ADMINISTRATOR
    has_engagement = Engagement.objects.exists()
    roles = set(User.objects.filter(is_active=True).values_list("role", flat=True))
    missing = [role.label for role in NEEDED if role not in roles]
    return [
        _step(_("Our company's data"), _("Quotes and documents print it."), "documents:company",
              allowed(user, Can.MANAGE), CompanyProfile.objects.exists()),
        _step(_("People and roles"), _("Still missing: %(roles)s.") % {"roles": listed(missing)}
              if missing else _("All roles are filled."), "people:new", is_administrator,
              not missing),
        _step(_("Node"), _("The NPU server that jobs run on; needed before the first job."),
              "workers:node_new", allowed(user, Can.OPERATE), Node.objects.exists()),
        _step(_("First engagement"), _("With its customer; then the team and the models."),
              "engagements:new", allowed(user, Can.MANAGE), has_engagement),
        _step(_("First model"), _("Each model goes through the stages independently."),
              "engagements:list", has_engagement and allowed(user, Can.MANAGE), False),
    ]


def _step(label: str, detail: str, route: str, may: bool, is_done: bool) -> OnboardingStep:
    return OnboardingStep(label, detail, address(route) if may and not is_done else "", is_done)
