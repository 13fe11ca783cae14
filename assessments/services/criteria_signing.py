"""Confirming and signing criteria: from then on they are frozen."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from assessments.duties import CRITERIA_DUTIES
from assessments.models import Baseline, Confirmation, CriteriaSet, MetricDefinition, Side
from assessments.services.baselines import require_repeatable
from assessments.services.confirmations import (
    SignedSheet,
    confirm,
    confirmations,
    side_of,
    signed_sheet_of,
)
from assessments.services.criteria import require_draft
from assessments.services.measurements import judge_criterion, newest_measurement
from assessments.services.plausibility import require_answered
from bundle_verifier import canonical
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.duties import Duty, require_separated
from engagements.errors import InvalidInput
from engagements.models import User
from workers.artifacts.artifact_store import is_intact
from workers.models import Artifact


@transaction.atomic
def confirm_criteria(*, actor: User, criteria_set: CriteriaSet) -> CriteriaSet:
    """One side confirms the draft as it stands; any later change needs a new confirmation.

    Raises WrongState for signed criteria, InvalidInput for incomplete ones.
    """
    criteria_set = CriteriaSet.objects.select_for_update(
        of=("self",), no_key=True).get(pk=criteria_set.pk)
    require_draft(criteria_set)
    _require_complete(actor, criteria_set)
    if side_of(actor) == Side.CUSTOMER:
        require_separated(CRITERIA_DUTIES, actor, criteria_set, Duty.REVIEWER)
    confirm(actor=actor, engagement=criteria_set.engagement, criteria_set=criteria_set,
            content_hash=content_hash(criteria_set))
    audit_log.record(actor=actor, action="criteria.confirm", target=criteria_set,
                     engagement=criteria_set.engagement, data={"hash": content_hash(criteria_set)})
    return criteria_set


def customers_confirmation(criteria_set: CriteriaSet) -> Confirmation | None:
    """The reviewer's confirmation of the draft as it stands now."""
    found = confirmations(content_hash(criteria_set), criteria_set=criteria_set)
    return next((entry for entry in found if entry.side == Side.CUSTOMER), None)


@transaction.atomic
def sign_criteria(*, actor: User, criteria_set: CriteriaSet, customer_signatory: str = "",
                  signed_sheet: Artifact | None = None, approved_by: User | None = None
                  ) -> CriteriaSet:
    """Freeze the draft, its baselines and definitions, and supersede the version before.

    The customer's side is the reviewer's confirmation of exactly this draft, or the scan of the
    sheet signed on paper. What is measured already is judged under the new set.

    Args:
        signed_sheet: scan of the signed sheet, with the name on it as `customer_signatory`.
        approved_by: the customer's reviewer who approved just this content elsewhere: a change
            request, on whose own author and approver the same rule was asked.

    Raises DutyConflict for whoever wrote the draft, InvalidInput for an empty set, without the
    customer's side, for a criterion without the baseline it needs, and for a baseline that was not
    repeated or whose raw file is damaged.
    """
    sheet = signed_sheet_of(signed_sheet, customer_signatory)
    require(actor, Can.MANAGE, criteria_set.engagement)
    criteria_set = CriteriaSet.objects.select_for_update(
        of=("self",), no_key=True).get(pk=criteria_set.pk)
    require_draft(criteria_set)
    if approved_by is None:
        require_separated(CRITERIA_DUTIES, actor, criteria_set, Duty.APPROVER)
    _require_complete(actor, criteria_set)
    confirmed = _customers_side(actor, criteria_set, sheet, approved_by)
    now = timezone.now()
    criteria_set.engagement.criteria_sets.filter(state=CriteriaSet.State.SIGNED).update(
        state=CriteriaSet.State.SUPERSEDED)
    Baseline.objects.filter(criteria__criteria_set=criteria_set, frozen_at=None).update(
        frozen_at=now)
    criteria_set.state, criteria_set.signed_at = CriteriaSet.State.SIGNED, now
    criteria_set.signed_by = actor
    criteria_set.customer_signatory = (
        confirmed.signatory or confirmed.confirmed_by.get_full_name())
    criteria_set.content_hash = content_hash(criteria_set)
    criteria_set.save()
    audit_log.record(actor=actor, action="criteria.sign", target=criteria_set,
                     engagement=criteria_set.engagement,
                     data={"hash": criteria_set.content_hash,
                           "customer": criteria_set.customer_signatory,
                           "scan": confirmed.scan.sha256 if confirmed.scan else ""})
    for criterion in criteria_set.criteria.all():
        if newest_measurement(criterion):
            judge_criterion(criterion, actor)
    return criteria_set


def _customers_side(actor: User, criteria_set: CriteriaSet, sheet: SignedSheet | None,
                    approved_by: User | None) -> Confirmation:
    """The customer's confirmation of the draft as it stands; entered first where it comes with
    the signature."""
    if sheet or approved_by:
        confirm(actor=actor if sheet else approved_by, engagement=criteria_set.engagement,
                content_hash=content_hash(criteria_set), criteria_set=criteria_set, sheet=sheet)
    confirmed = customers_confirmation(criteria_set)
    if confirmed is None:
        raise InvalidInput(_("The customer has not signed: let them confirm this version with "
                             "their own account, or attach the scan of the signed sheet."))
    return confirmed


def _require_complete(actor: User, criteria_set: CriteriaSet) -> None:
    criteria = list(criteria_set.criteria.select_related("definition", "baseline__artifact"))
    if not criteria:
        raise InvalidInput(_("There is no criterion to sign."))
    for criterion in criteria:
        if criterion.definition.calculator != MetricDefinition.Calculator.VALUE:
            if criterion.baseline is None:
                raise InvalidInput(_("%(criterion)s has no baseline.") % {"criterion": criterion})
            if not is_intact(criterion.baseline.artifact):
                raise InvalidInput(_("The raw file of the baseline of %(criterion)s is damaged.")
                                   % {"criterion": criterion})
            require_repeatable(criterion.baseline)
            if criterion.baseline.frozen_at is None:
                require_answered(actor, criterion.baseline)


def criteria_facts(criteria_set: CriteriaSet) -> list[dict]:
    """What is signed, as plain data: thresholds, whole definitions, baselines' checksums."""
    fields = [f.name for f in MetricDefinition._meta.fields
              if f.name not in ("id", *MetricDefinition.BOOKKEEPING)]
    rows = criteria_set.criteria.select_related("model", "definition", "baseline__artifact")
    return [{
        "model": row.model.code, "stage": row.stage, "threshold": f"{row.threshold.normalize():f}",
        "definition": {name: getattr(row.definition, name) for name in fields},
        **({"point": row.point} if row.point else {}),
        **({"selection": row.selection, "runs": row.run_rule[1]} if row.selection else {}),
        "baseline": row.baseline and {
            "quantity": row.baseline.quantity, "unit": row.baseline.unit,
            "value": None if row.baseline.value is None else f"{row.baseline.value.normalize():f}",
            "sha256": row.baseline.artifact.sha256},
    } for row in rows]


def content_hash(criteria_set: CriteriaSet) -> str:
    """SHA-256 of the signed facts."""
    return canonical.content_hash(criteria_facts(criteria_set), canonical.SPACED)
