"""How many people the firm asks for: set by an administrator."""

from django.db import transaction
from django.utils.translation import gettext as _

from engagements.access import require_administrator
from engagements.audit import audit_log
from engagements.duties import settable_rules
from engagements.errors import InvalidInput
from engagements.models import DutySetting, User


@transaction.atomic
def set_people(*, actor: User, kind: str, people: str) -> DutySetting:
    """Set whether author, reviewer and approver of a kind are three people or two.

    Holds for steps done from now on. Raises InvalidInput for a kind or number that there is not.
    """
    require_administrator(actor)
    if kind not in {rule.code for rule in settable_rules()}:
        raise InvalidInput(_("The duties of this kind are not set."))
    if people not in DutySetting.People.values:
        raise InvalidInput(_("Choose three people, or which two duties one of two may do."))
    setting, _created = DutySetting.objects.update_or_create(
        kind=kind, defaults={"people": people})
    audit_log.record(actor=actor, action="duties.set", target=setting,
                     data={"kind": kind, "people": people})
    return setting
