"""Who writes criteria and waivers never signs them."""

from collections.abc import Mapping
from operator import attrgetter

from django.db.models import Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from assessments.models import CriteriaSet, Side
from engagements import duties
from engagements.access import Can, allowed
from engagements.duties import Duty
from engagements.models import AuditEntry, User


def _manages(user: User) -> bool:
    return allowed(user, Can.MANAGE)


def _criteria_done_by(criteria_set: CriteriaSet) -> Mapping[Duty, set]:
    """Authors are found in the audit log: who began the draft, added thresholds or took out."""
    own = AuditEntry.objects.filter(engagement=criteria_set.engagement_id)
    authors = own.filter(
        Q(action="criteria.draft", target_id=str(criteria_set.pk))
        | Q(action__in=("criterion.add", "criterion.remove"),
            data__criteria_set=criteria_set.pk)).values_list("actor", flat=True).distinct()
    customers = criteria_set.confirmations.filter(side=Side.CUSTOMER, scan=None)
    return {Duty.AUTHOR: set(authors.order_by()), Duty.APPROVER: {criteria_set.signed_by_id},
            Duty.REVIEWER: set(customers.values_list("confirmed_by", flat=True))}


CRITERIA_DUTIES = duties.register(duties.DutyRule(
    code="criteria", title=_("Criteria"), done_by=_criteria_done_by,
    steps=lambda _set: [duties.Step(Duty.APPROVER, gettext("Sign"), _manages)]))

WAIVER_DUTIES = duties.register(duties.DutyRule(
    code="waiver", title=_("Waivers"),
    done_by=lambda waiver: {Duty.AUTHOR: {waiver.drafted_by_id},
                            Duty.APPROVER: {waiver.signed_by_id}},
    steps=lambda _waiver: [duties.Step(Duty.APPROVER, gettext("Sign the waiver"), _manages)],
    engagement=attrgetter("criterion.criteria_set.engagement")))
