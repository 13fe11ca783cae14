"""Which role may do what. Whether a user may is asked in `engagements.access`."""

from enum import StrEnum

from django.db import models
from django.utils.translation import gettext_lazy as _


class Role(models.TextChoices):
    ADMINISTRATOR = "administrator", _("Administrator")
    MANAGER = "manager", _("Project manager")
    CONSULTANT = "consultant", _("Delivery consultant")
    SALES = "sales", _("Sales / finance")
    OPERATOR = "operator", _("Node operator")
    REVIEWER = "reviewer", _("Customer reviewer")
    AUDITOR = "auditor", _("Auditor")


class Can(StrEnum):
    VIEW_INTERNAL = "view_internal"  # everything but what the customer's reviewer sees
    BEGIN = "begin"  # a new engagement with its customer
    MANAGE = "manage"  # engagement, models, team, gates, criteria
    WORK = "work"  # jobs, artifacts, stage start and submit
    PRICE = "price"  # quotes and rate cards
    OPERATE = "operate"  # nodes and credentials
    ISSUE = "issue"  # reports and acceptance documents
    REVIEW = "review"  # comment, decide and sign for the customer
    AUDIT = "audit"  # read the audit log
    WITNESS = "witness"  # hear of each published head of the audit log


OUTSIDE = (Role.REVIEWER, Role.AUDITOR)  # they read what left the firm
OF_AGENTS = frozenset({Can.VIEW_INTERNAL, Can.WORK})  # whatever else their owner may


def side_of(role: str) -> str:
    """Whom somebody with this role stands for: the firm (""), the customer, or the audit."""
    return role if role in OUTSIDE else ""


PERMISSIONS: dict[str, frozenset[Can]] = {
    Role.ADMINISTRATOR: frozenset(set(Can) - {Can.REVIEW, Can.WITNESS}),
    Role.MANAGER: frozenset(
        {Can.VIEW_INTERNAL, Can.BEGIN, Can.MANAGE, Can.WORK, Can.PRICE, Can.ISSUE, Can.AUDIT}
    ),
    Role.CONSULTANT: frozenset({Can.VIEW_INTERNAL, Can.WORK}),
    Role.SALES: frozenset({Can.VIEW_INTERNAL, Can.BEGIN, Can.PRICE}),
    Role.OPERATOR: frozenset({Can.VIEW_INTERNAL, Can.OPERATE}),
    Role.REVIEWER: frozenset({Can.REVIEW}),
    Role.AUDITOR: frozenset({Can.AUDIT, Can.WITNESS}),
}
