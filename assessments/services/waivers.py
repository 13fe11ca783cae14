"""Writes about waivers and accepted differences: what people take upon themselves, signed."""

from datetime import date

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from assessments.duties import WAIVER_DUTIES
from assessments.labels.environments import item_name
from assessments.models import (
    AcceptedDifference,
    CriteriaSet,
    Criterion,
    Outcome,
    Verdict,
    Waiver,
)
from assessments.queries import newest_verdict, waiver_of
from assessments.verdicts.environments import ORDER, unreviewed
from bundle_verifier.canonical import SPACED, content_hash
from engagements.access import Can, allowed, require
from engagements.audit import audit_log
from engagements.duties import Duty, conflict, require_separated
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, User


@transaction.atomic
def draft_waiver(*, actor: User, criterion: Criterion, reason: str, scope: str, expires_on: date
                 ) -> Waiver:
    """Draft a waiver of a criterion whose verdict is not passed, for a manager to sign.

    A draft that was open before is revoked. Writes an audit entry. Raises WrongState for a
    criterion that is not judged, is passed or is waived already, and InvalidInput without reason,
    scope or a day to come.
    """
    engagement = criterion.criteria_set.engagement
    require(actor, Can.WORK, engagement)
    criterion = Criterion.objects.select_for_update(of=("self",), no_key=True).get(pk=criterion.pk)
    verdict = _waivable(criterion)
    if not (reason.strip() and scope.strip()):
        raise InvalidInput(_("A waiver needs a reason and a scope."))
    if expires_on < timezone.localdate():
        raise InvalidInput(_("The waiver's end date is in the past."))
    if waiver_of(criterion):
        raise WrongState(_("A waiver is already in force; revoke it first."))
    now = timezone.now()
    criterion.waivers.filter(revoked_at=None).update(revoked_at=now, revoked_by=actor)
    waiver = Waiver.objects.create(
        criterion=criterion, verdict=verdict, reason=reason.strip(), scope=scope.strip(),
        expires_on=expires_on, drafted_by=actor, drafted_at=now)
    audit_log.record(actor=actor, action="waiver.draft", target=waiver, engagement=engagement,
                     data={"reason": waiver.reason, "scope": waiver.scope})
    return waiver


def _waivable(criterion: Criterion) -> Verdict:
    verdict = newest_verdict(criterion)
    if criterion.criteria_set.state != CriteriaSet.State.SIGNED:
        raise WrongState(_("Only signed criteria can be waived."))
    if verdict is None or verdict.outcome == Outcome.PASSED:
        raise WrongState(_("There is no verdict to waive."))
    return verdict


@transaction.atomic
def sign_waiver(*, actor: User, waiver: Waiver) -> Waiver:
    """Sign a drafted waiver: from now on the gates pass; the verdict itself stays.

    Raises WrongState when it is signed, revoked or over, or the verdict is another by now;
    DutyConflict for who drafted it.
    """
    engagement = waiver.criterion.criteria_set.engagement
    require(actor, Can.MANAGE, engagement)
    waiver = Waiver.objects.select_for_update(of=("self",), no_key=True).get(pk=waiver.pk)
    if waiver.signed_at or waiver.revoked_at or waiver.expires_on < timezone.localdate():
        raise WrongState(_("This waiver has been signed or revoked, or has expired."))
    require_separated(WAIVER_DUTIES, actor, waiver, Duty.APPROVER)
    if _waivable(waiver.criterion) != waiver.verdict:
        raise WrongState(_("The criterion has since been judged again; draft the waiver again."))
    waiver.signed_by, waiver.signed_at = actor, timezone.now()
    verdict = waiver.verdict
    facts = {
        "criterion": str(waiver.criterion), "outcome": verdict.outcome, "figure": verdict.figure,
        "reason": waiver.reason, "scope": waiver.scope, "expires_on": str(waiver.expires_on),
        "drafted_by": waiver.drafted_by.username, "signed_by": actor.username,
        "signed_at": waiver.signed_at.isoformat()}
    waiver.content_hash = content_hash(facts, SPACED)
    waiver.save()
    audit_log.record(actor=actor, action="waiver.sign", target=waiver, engagement=engagement,
                     data=facts)
    return waiver


def to_sign(user: User, criterion: Criterion) -> Waiver | None:
    """The criterion's draft that this person may sign."""
    draft = criterion.waivers.to_sign(timezone.localdate()).first()
    may = draft and allowed(user, Can.MANAGE) and not conflict(
        WAIVER_DUTIES, user, draft, Duty.APPROVER)
    return draft if may else None


@transaction.atomic
def revoke_waiver(*, actor: User, waiver: Waiver) -> Waiver:
    """End a waiver before its day. Raises WrongState if it is ended already."""
    engagement = waiver.criterion.criteria_set.engagement
    require(actor, Can.MANAGE, engagement)
    waiver = Waiver.objects.select_for_update(of=("self",), no_key=True).get(pk=waiver.pk)
    if waiver.revoked_at:
        raise WrongState(_("This waiver has already been revoked."))
    waiver.revoked_at, waiver.revoked_by = timezone.now(), actor
    waiver.save(update_fields=["revoked_at", "revoked_by"])
    audit_log.record(actor=actor, action="waiver.revoke", target=waiver, engagement=engagement)
    return waiver


@transaction.atomic
def accept_difference(
    *, actor: User, engagement: Engagement, item: str, baseline_value: str,
    candidate_value: str, reason: str,
) -> AcceptedDifference:
    """A manager or the customer's reviewer accepts one difference of the environments; that a
    criterion was frozen after the run began accepts the reviewer alone.

    Verdicts are not computed anew here; `services.accept_and_judge` does both.
    """
    is_customers = item == ORDER or allowed(actor, Can.REVIEW)
    require(actor, Can.REVIEW if is_customers else Can.MANAGE, engagement)
    if not reason.strip():
        raise InvalidInput(_("Explain why this difference does not matter."))
    accepted, is_new = AcceptedDifference.objects.get_or_create(
        engagement=engagement, item=item, baseline_value=baseline_value,
        candidate_value=candidate_value,
        defaults={"reason": reason.strip()[:240], "accepted_by": actor})
    if is_new:
        audit_log.record(actor=actor, action="difference.accept", target=accepted,
                         engagement=engagement, data={"reason": accepted.reason})
    return accepted


@transaction.atomic
def accept_open_differences(*, actor: User, criterion: Criterion, items: list[str], reason: str
                            ) -> list[AcceptedDifference]:
    """Accept the named open differences between a criterion's baseline and its newest run.

    Raises InvalidInput where none of them is open.
    """
    verdict = newest_verdict(criterion)
    found = [item for item in unreviewed(criterion, verdict.measurement if verdict else None)
             if item.name in set(map(item_name, items))]
    if not found:
        raise InvalidInput(_("None of these differences is open."))
    return [accept_difference(
        actor=actor, engagement=criterion.criteria_set.engagement, item=item.name,
        baseline_value=item.baseline, candidate_value=item.candidate, reason=reason)
        for item in found]
