"""Standard texts of the firm: changed, and put back to what was shipped."""

from django.db import transaction
from django.utils.translation import gettext as _

from delivery.reports import standard_text
from delivery.reports.models import StandardText
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput
from engagements.models import Customer, User


@transaction.atomic
def save_standard_text(*, actor: User, code: str, zh: str, en: str,
                 customer: Customer | None = None) -> StandardText:
    """Keep the firm's own text, for all customers or one; drafts from now on start with it."""
    require(actor, Can.MANAGE)
    if code not in standard_text.STANDARD:
        raise InvalidInput(_("There is no standard text “%(code)s”.") % {"code": code})
    if not zh.strip():
        raise InvalidInput(_("Enter the Chinese text; it prevails."))
    entry, _made = StandardText.objects.update_or_create(code=code, customer=customer, defaults={
        "zh": zh.strip(), "en": en.strip(), "changed_by": actor})
    audit_log.record(actor=actor, action="wording.save", target=entry,
                     data={"code": code, "zh": entry.zh, "en": entry.en, **_whose(customer)})
    return entry


@transaction.atomic
def reset_standard_text(*, actor: User, code: str, customer: Customer | None = None) -> None:
    """Put the shipped text back, or for a customer the text of all. Safe to repeat."""
    require(actor, Can.MANAGE)
    entry = StandardText.objects.select_for_update(of=("self",), no_key=True).filter(
        code=code, customer=customer).first()
    if entry:
        StandardText.objects.filter(pk=entry.pk).delete()
        audit_log.record(actor=actor, action="wording.reset", target=entry,
                         data={"code": code, **_whose(customer)})


def _whose(customer: Customer | None) -> dict:
    return {"customer": customer.pk} if customer else {}
