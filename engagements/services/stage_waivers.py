"""Writes about waivers of stages: a manager drafts, somebody else signs."""

from collections.abc import Collection, Mapping
from operator import attrgetter

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from bundle_verifier.canonical import content_hash
from engagements import duties
from engagements.access import Can, allowed, require
from engagements.audit import audit_log
from engagements.conflict_retry import retried
from engagements.duties import Duty
from engagements.errors import InvalidInput, WrongState
from engagements.gates import evaluate
from engagements.models import StageRecord, StageWaiver, User
from engagements.stages import Stage, StageState
from engagements.text.text_joining import listed


@retried
@transaction.atomic
def draft_stage_waiver(*, actor: User, record: StageRecord, reason: str,
                       checks: Collection[str] = ()) -> StageWaiver:
    """A waiver of checks that are missing now, to be signed by somebody else.

    A draft that was open before is revoked. Writes an audit entry.

    Args:
        checks: codes of those that it lets pass; all that are missing where none is named.
    Raises WrongState unless the stage is submitted and a check is missing; InvalidInput without
    a reason, or for a check that is not missing; NotAllowed.
    """
    require(actor, Can.MANAGE, record.engagement)
    record = StageRecord.objects.select_for_update(of=("self",), no_key=True).get(pk=record.pk)
    if record.state != StageState.SUBMITTED or record.stage == Stage.ACCEPT:
        raise WrongState(_("Only a submitted stage before acceptance can be waived."))
    if not reason.strip():
        raise InvalidInput(_("Give the reason."))
    missing = [result.as_dict() for result in evaluate(record) if not result.is_met]
    if not missing:
        raise WrongState(_("The gate is met: pass the stage, no waiver is needed."))
    if unknown := set(checks) - {check["code"] for check in missing}:
        raise InvalidInput(_("Not missing in this gate: %(checks)s.") % {
            "checks": listed(sorted(unknown))})
    missing = [check for check in missing if not checks or check["code"] in checks]
    now = timezone.now()
    record.waivers.open().update(revoked_at=now, revoked_by=actor)
    waiver = StageWaiver.objects.create(
        record=record, reason=reason.strip(), drafted_by=actor, drafted_at=now,
        checks=[{key: check[key] for key in ("code", "label", "sentence")} for check in missing])
    audit_log.record(actor=actor, action="stage_waiver.draft", target=waiver,
                     engagement=record.engagement,
                     data={"reason": waiver.reason, "checks": sorted(waiver.codes)})
    return waiver


def _signs(user: User) -> bool:
    return allowed(user, Can.REVIEW) or allowed(user, Can.MANAGE)


def _done_by(waiver: StageWaiver) -> Mapping[Duty, set]:
    return {Duty.AUTHOR: {waiver.drafted_by_id}, Duty.APPROVER: {waiver.signed_by_id}}


DUTIES = duties.register(duties.DutyRule(
    code="stage_waiver", title=gettext_lazy("Waivers of stages"), done_by=_done_by,
    steps=lambda _waiver: [duties.Step(Duty.APPROVER, _("Sign the waiver"), _signs)],
    engagement=attrgetter("record.engagement")))


def may_sign(user: User, waiver: StageWaiver) -> bool:
    """The customer's reviewer or a manager, but not who drafted it."""
    return waiver.signed_at is None and waiver.revoked_at is None and (
        _signs(user) and not duties.conflict(DUTIES, user, waiver, Duty.APPROVER))


@retried
@transaction.atomic
def sign_stage_waiver(*, actor: User, waiver: StageWaiver) -> StageWaiver:
    """Sign a drafted waiver; its content is hashed and frozen. Writes an audit entry.

    Raises WrongState when it is signed or revoked, NotAllowed for its author and other roles.
    """
    engagement = waiver.record.engagement
    require(actor, Can.REVIEW if allowed(actor, Can.REVIEW) else Can.MANAGE, engagement)
    waiver = StageWaiver.objects.select_for_update(of=("self",), no_key=True).get(pk=waiver.pk)
    if waiver.signed_at or waiver.revoked_at:
        raise WrongState(_("This waiver is signed or revoked already."))
    duties.require_separated(DUTIES, actor, waiver, Duty.APPROVER)
    waiver.signed_by, waiver.signed_at = actor, timezone.now()
    waiver.content_hash = waiver_hash(waiver)
    waiver.save()
    audit_log.record(actor=actor, action="stage_waiver.sign", target=waiver, engagement=engagement,
                     data={"hash": waiver.content_hash})
    return waiver


def waiver_hash(waiver: StageWaiver) -> str:
    """SHA-256 of what was signed, by whom and when."""
    facts = {"stage": str(waiver.record_id), "reason": waiver.reason, "checks": waiver.checks,
             "drafted_by": waiver.drafted_by_id, "signed_by": waiver.signed_by_id,
             "signed_at": waiver.signed_at.isoformat()}
    return content_hash(facts)


@retried
@transaction.atomic
def revoke_stage_waiver(*, actor: User, waiver: StageWaiver) -> StageWaiver:
    """Withdraw a waiver before it was used. WrongState once the stage has been let through."""
    require(actor, Can.MANAGE, waiver.record.engagement)
    waiver = StageWaiver.objects.select_for_update(of=("self",), no_key=True).get(pk=waiver.pk)
    if waiver.revoked_at or waiver.record.state == StageState.WAIVED:
        raise WrongState(_("It is revoked, or the stage was let through: reopen the stage."))
    waiver.revoked_by, waiver.revoked_at = actor, timezone.now()
    waiver.save(update_fields=["revoked_by", "revoked_at"])
    audit_log.record(actor=actor, action="stage_waiver.revoke", target=waiver,
                     engagement=waiver.record.engagement)
    return waiver
