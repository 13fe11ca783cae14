"""The firm's particulars and discount limits."""

from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from delivery.documents.models import CompanyProfile
from delivery.quotes.credit_code import is_credit_code
from delivery.quotes.draft_revisions import differences
from delivery.quotes.models import DiscountLimit
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, NotAllowed
from engagements.models import Role, User


@transaction.atomic
def save_company(*, actor: User, limits: dict[str, Decimal] | None = None, **fields
                 ) -> CompanyProfile:
    """Store the profile that documents written from now on print; issued ones keep theirs.

    Args:
        limits: {role: largest discount as a fraction}; only an administrator sets them.
    """
    require(actor, Can.MANAGE)
    code = fields.get("credit_code", "").strip().upper()
    if code and not is_credit_code(code):
        raise InvalidInput(_("“%(code)s” is no unified social credit code: its 18th character "
                             "does not follow from the first 17 (GB 32100-2015).") % {"code": code})
    if limits and actor.role != Role.ADMINISTRATOR:
        raise NotAllowed(_("Only an administrator sets the discount limits."))
    profile = CompanyProfile.objects.select_for_update(
        of=("self",), no_key=True).first() or CompanyProfile()
    fields = {**fields, **({"credit_code": code} if "credit_code" in fields else {})}
    changes = differences({name: getattr(profile, name) for name in fields}, fields)
    for name, value in fields.items():
        setattr(profile, name, value)
    profile.save()
    for role, rate in (limits or {}).items():
        DiscountLimit.objects.update_or_create(role=role, defaults={"rate": rate})
        changes[f"discount limit {role}"] = ["", str(rate)]
    audit_log.record(actor=actor, action="company.save", target=profile, data={"changes": changes})
    return profile
