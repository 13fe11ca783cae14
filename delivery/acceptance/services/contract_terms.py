"""Acceptance terms of the contract."""


from django.db import transaction
from django.utils.translation import gettext as _

from delivery.acceptance.models import AcceptanceTerms, Review
from delivery.acceptance.services.reviews import HELD_TERMS
from delivery.agreement.facts import shown
from delivery.agreement.queries import agreement_of
from delivery.reports.models import Document
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, User

MAX_PERIOD = 3650  # days


@transaction.atomic
def set_terms(*, actor: User, engagement: Engagement, has_preliminary: bool = False,
              trial_days: int = 0, review_days: int | None = None, is_deemed: bool = False,
              clause: str = "", needs_power: bool = False,
              needs_third_party: bool = False,
              warranty_months: int | None = None) -> AcceptanceTerms:
    """Record what the signed contract says; reviews opened later are held to it.

    Raises InvalidInput for deemed acceptance without clause and period (AR-14), WrongState for
    other terms while a review is held to those that it was opened with.
    """
    require(actor, Can.MANAGE, engagement)
    if is_deemed and not (clause.strip() and review_days):
        raise InvalidInput(_("Deemed acceptance needs the clause of the contract that says so, "
                             "and the review period."))
    if max(trial_days or 0, review_days or 0, (warranty_months or 0) * 30) > MAX_PERIOD:
        raise InvalidInput(_("A period is at most %(n)d days.") % {"n": MAX_PERIOD})
    facts = {"has_preliminary": has_preliminary, "trial_days": trial_days or 0,
             "review_days": review_days or None, "is_deemed": is_deemed,
             "clause": clause.strip()[:200], "needs_power": needs_power,
             "needs_third_party": needs_third_party, "warranty_months": warranty_months or None}
    Engagement.objects.select_for_update(of=("self",), no_key=True).get(pk=engagement.pk)
    _require_no_review(engagement, facts)
    agreed = agreement_of(engagement)
    months = agreed.value("warranty_months")
    if agreed.is_in_force and (warranty_months or months) != months:
        raise InvalidInput(_("%(agreement)s says %(months)s of warranty; a new statement of work "
                             "or a change request changes it.") % {
            "agreement": agreed, "months": shown("warranty_months", months)})
    terms, _made = AcceptanceTerms.objects.update_or_create(engagement=engagement, defaults=facts)
    audit_log.record(actor=actor, action="acceptance.terms", target=engagement,
                     engagement=engagement, data=facts)
    return terms


def _require_no_review(engagement: Engagement, facts: dict) -> None:
    held = Review.objects.filter(
        document__engagement=engagement, document__state=Document.State.ISSUED).exclude(
        decision=Review.Decision.DEEMED).select_related("document").first()
    if held and any(facts[name] != held.terms.get(name) for name in (
            *HELD_TERMS, *(["warranty_months"] if facts["warranty_months"] else []))):
        raise WrongState(_("%(document)s lies with the customer under the terms with which its "
                           "review was opened: withdraw it, save the terms, and issue its next "
                           "version; or wait until it is signed.") % {"document": held.document})
