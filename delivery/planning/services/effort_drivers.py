"""Writes of effort drivers. The next draft of an estimate takes them into account."""

from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from delivery.planning.models import DriverCode, EffortDriver
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import MigratedModel, User


@transaction.atomic
def set_driver(*, actor: User, model: MigratedModel, code: str, amount: Decimal, source: str = ""
               ) -> EffortDriver:
    """State a driver of a model, or replace its amount. Writes an audit entry.

    Raises InvalidInput for an unknown code or an amount that is not above zero.
    """
    require(actor, Can.WORK, model.engagement)
    if code not in DriverCode.values or not 0 < amount < 10**6:
        raise InvalidInput(_("A driver needs a known code and an amount above zero."))
    MigratedModel.objects.select_for_update(of=("self",), no_key=True).get(pk=model.pk)
    driver, _made = EffortDriver.objects.update_or_create(
        model=model, code=code, defaults={"amount": amount, "source": source[:80]})
    audit_log.record(actor=actor, action="driver.set", target=driver, engagement=model.engagement,
                     data={"code": code, "amount": str(amount)})
    return driver


@transaction.atomic
def remove_driver(*, actor: User, model: MigratedModel, code: str) -> None:
    """Take a driver back; nothing happens where there is none."""
    require(actor, Can.WORK, model.engagement)
    for driver in EffortDriver.objects.select_for_update(of=("self",), no_key=True).filter(
            model=model, code=code):
        EffortDriver.objects.filter(pk=driver.pk).delete()
        audit_log.record(actor=actor, action="driver.remove", target=driver,
                         engagement=model.engagement, data={"code": code})
