"""The largest discount that each role approves."""

from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from delivery.quotes.models import DiscountLimit
from engagements.audit import audit_log
from engagements.errors import NotAllowed
from engagements.models import Role, User


@transaction.atomic
def save_discount_limits(*, actor: User, limits: dict[str, Decimal]) -> None:
    """Set the limits of these roles, each a fraction; only an administrator does."""
    if actor.role != Role.ADMINISTRATOR:
        raise NotAllowed(_("Only an administrator can set discount limits."))
    stored = [DiscountLimit.objects.update_or_create(role=role, defaults={"rate": rate})[0]
              for role, rate in limits.items()]
    if stored:
        audit_log.record(actor=actor, action="discount_limits.save", target=stored[0],
                         data={"limits": {role: str(rate) for role, rate in limits.items()}})
