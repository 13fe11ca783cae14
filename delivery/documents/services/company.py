"""The firm's particulars."""

from django.db import transaction
from django.utils.translation import gettext as _

from delivery.documents.models import CompanyProfile
from delivery.documents.models.company import is_credit_code
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import User


@transaction.atomic
def save_company(*, actor: User, **fields) -> CompanyProfile:
    """Store the profile that documents written from now on print; issued ones keep theirs.

    Raises InvalidInput for a credit code whose check character is wrong.
    """
    require(actor, Can.MANAGE)
    if "credit_code" in fields:
        fields["credit_code"] = _checked_code(fields["credit_code"])
    profile = CompanyProfile.objects.select_for_update(
        of=("self",), no_key=True).first() or CompanyProfile()
    changes = {name: [str(getattr(profile, name)), str(value)] for name, value in fields.items()
               if getattr(profile, name) != value}
    for name, value in fields.items():
        setattr(profile, name, value)
    profile.save()
    audit_log.record(actor=actor, action="company.save", target=profile, data={"changes": changes})
    return profile


def _checked_code(code: str) -> str:
    code = code.strip().upper()
    if code and not is_credit_code(code):
        raise InvalidInput(_("“%(code)s” is not a valid unified social credit "
                             "code: its 18th character does not follow from "
                             "the first 17 (GB 32100-2015).") % {"code": code})
    return code
