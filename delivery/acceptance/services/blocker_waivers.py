"""Waivers of what holds up the final acceptance: a manager drafts, the customer signs."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from bundle_verifier.canonical import content_hash
from delivery.acceptance.models import BlockerWaiver, Condition, Review
from delivery.agreement.facts import told
from delivery.planning.models import ProjectIssue
from delivery.reports.facts.waivers_and_omissions import deliverable_code, issue_code
from delivery.reports.models import Document
from engagements import duties
from engagements.access import Can, allowed, require
from engagements.audit import audit_log
from engagements.duties import Duty
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, User
from engagements.text.text_joining import listed


def blockers_of(engagement: Engagement) -> list[dict[str, str]]:
    """What holds up an unconditional final acceptance now, as code, label and sentence: open
    issues, open conditions of the provisional one, deliverables that the newest certificate lists
    as owed."""
    return [{"code": code, "label": f"{label}", "sentence": sentence}
            for code, label, sentence in _blockers(engagement)]


def _blockers(engagement: Engagement) -> Iterator[tuple[str, Any, str]]:
    for issue in ProjectIssue.objects.blocking_final(engagement):
        yield issue_code(issue), _("Open issue"), f"{issue}"
    for row in Condition.objects.blocking().filter(
            review__document__engagement=engagement, review__phase=Review.Phase.PRELIMINARY,
            review__document__state__in=Document.IN_FORCE):
        yield condition_code(row), _("Open condition"), f"{row}"
    newest = engagement.documents.filter(kind=Document.Kind.ACCEPTANCE).in_force().first()
    for title in owed_by(newest) if newest else ():
        yield deliverable_code(title), _("Deliverable owed"), title["zh-hans"]


def owed_by(document: Document) -> list[dict[str, str]]:
    """Titles of the deliverables of the contract's list that a certificate names as owed."""
    facts = document.snapshot
    return (facts.get("missing_deliverables") or []) if facts.get("is_owed_listed") else []


def condition_code(condition: Condition) -> str:
    return f"condition-{condition.pk}"


def require_no_blocker(review: Review) -> None:
    """Raise InvalidInput for a final acceptance without conditions, signed or deemed, over a
    deliverable that is owed or an open issue that holds it up, unless a waiver names it."""
    if review.phase != Review.Phase.FINAL or review.decision not in (
            Review.Decision.ACCEPTED, Review.Decision.DEEMED):
        return
    waived = BlockerWaiver.objects.codes_in_force(review.engagement)
    owed = [told(title) for title in owed_by(review.document)
            if deliverable_code(title) not in waived]
    if owed:
        raise InvalidInput(_("Still owed by the contract: %(names)s. Choose “passed with "
                             "conditions”, have a new version issued once they are there, or "
                             "sign a waiver that names them.") % {"names": listed(owed)})
    held = [issue for issue in ProjectIssue.objects.blocking_final(review.engagement)
            if issue_code(issue) not in waived]
    if held:
        raise InvalidInput(_("Open issues hold up the final acceptance: %(issues)s. Choose “passed "
                             "with conditions” and name them, have them closed first, or sign a "
                             "waiver that names them.") % {"issues": listed(held)})


@transaction.atomic
def draft_blocker_waiver(*, actor: User, engagement: Engagement, reason: str,
                         checks: Collection[str] = ()) -> BlockerWaiver:
    """A waiver of named blockers, for a reviewer of the customer to sign. Writes an audit entry.

    Args:
        checks: codes of `blockers_of`; all where none is named.
    Raises InvalidInput without a reason, or for what does not hold it up; WrongState where nothing
    does.
    """
    require(actor, Can.MANAGE, engagement)
    if not reason.strip():
        raise InvalidInput(_("Give the reason."))
    found = blockers_of(engagement)
    if not found:
        raise WrongState(_("Nothing holds up the final acceptance; no waiver is needed."))
    if unknown := set(checks) - {row["code"] for row in found}:
        raise InvalidInput(_("This does not hold up the final acceptance: %(checks)s.") % {
            "checks": listed(sorted(unknown))})
    waiver = BlockerWaiver.objects.create(
        engagement=engagement, reason=reason.strip(), drafted_by=actor, drafted_at=timezone.now(),
        checks=[row for row in found if not checks or row["code"] in checks])
    _record(actor, waiver, "draft", {"reason": waiver.reason, "checks": sorted(waiver.codes)})
    return waiver


def _done_by(waiver: BlockerWaiver) -> Mapping[Duty, set]:
    return {Duty.AUTHOR: {waiver.drafted_by_id}, Duty.APPROVER: {waiver.signed_by_id}}


DUTIES = duties.register(duties.DutyRule(
    code="blocker_waiver", title=gettext_lazy("Waivers of what holds up the acceptance"),
    done_by=_done_by, steps=lambda _waiver: [duties.Step(
        Duty.APPROVER, _("Sign the waiver"), lambda user: allowed(user, Can.REVIEW))]))


@transaction.atomic
def sign_blocker_waiver(*, actor: User, waiver: BlockerWaiver) -> BlockerWaiver:
    """The customer signs; its content is hashed and frozen. Writes an audit entry."""
    require(actor, Can.REVIEW, waiver.engagement)
    waiver = _locked_open(waiver)
    if waiver.signed_at:
        raise WrongState(_("This waiver is signed or revoked already."))
    duties.require_separated(DUTIES, actor, waiver, Duty.APPROVER)
    waiver.signed_by, waiver.signed_at = actor, timezone.now()
    waiver.content_hash = content_hash({
        "engagement": waiver.engagement.code, "reason": waiver.reason, "checks": waiver.checks,
        "drafted_by": waiver.drafted_by_id, "signed_by": waiver.signed_by_id,
        "signed_at": waiver.signed_at.isoformat()})
    waiver.save()
    _record(actor, waiver, "sign", {"hash": waiver.content_hash})
    return waiver


@transaction.atomic
def revoke_blocker_waiver(*, actor: User, waiver: BlockerWaiver) -> BlockerWaiver:
    """Withdraw it; what was signed under it stays. WrongState where it is revoked."""
    require(actor, Can.MANAGE, waiver.engagement)
    waiver = _locked_open(waiver)
    waiver.revoked_by, waiver.revoked_at = actor, timezone.now()
    waiver.save(update_fields=["revoked_by", "revoked_at"])
    _record(actor, waiver, "revoke", {})
    return waiver


def _locked_open(waiver: BlockerWaiver) -> BlockerWaiver:
    found = BlockerWaiver.objects.select_for_update(of=("self",), no_key=True).get(pk=waiver.pk)
    if found.revoked_at:
        raise WrongState(_("This waiver is signed or revoked already."))
    return found


def _record(actor: User, waiver: BlockerWaiver, step: str, data: dict) -> None:
    audit_log.record(actor=actor, action=f"blocker_waiver.{step}", target=waiver,
                     engagement=waiver.engagement, data=data)
