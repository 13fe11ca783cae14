"""Outstanding issues: the team reports what was done, the customer confirms and closes."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.acceptance.certificates import follow_certificate
from delivery.acceptance.models import Condition
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import User


def _locked_open(condition: Condition) -> Condition:
    found = Condition.objects.select_for_update(of=("self",), no_key=True).select_related(
        "review__document__engagement").get(pk=condition.pk)
    if found.closed_at:
        raise WrongState(_("This issue is already closed."))
    return found


@transaction.atomic
def report_condition(*, actor: User, condition: Condition, report: str) -> Condition:
    """Report what the team did about an outstanding issue; notifies the customer."""
    require(actor, Can.WORK, condition.review.document.engagement)
    condition = _locked_open(condition)
    if not report.strip():
        raise InvalidInput(_("Describe what was done."))
    condition.report, condition.reported_by = report.strip()[:400], actor
    condition.reported_at = timezone.now()
    condition.save()
    _record(actor, condition, "review.condition_report", {"report": condition.report})
    return condition


@transaction.atomic
def close_condition(*, actor: User, condition: Condition) -> Condition:
    """The customer confirms that an outstanding issue is closed.

    Acceptance stages and the engagement's state follow (see `follow_certificate`).
    """
    require(actor, Can.REVIEW, condition.review.engagement)
    condition = _locked_open(condition)
    if not condition.reported_at:
        raise WrongState(_("The team has not yet reported what was done."))
    condition.closed_at, condition.closed_by = timezone.now(), actor
    condition.save()
    follow_certificate(actor=actor, engagement=condition.review.engagement)
    _record(actor, condition, "review.condition_close", {})
    return condition


def _record(actor: User, condition: Condition, action: str, data: dict) -> None:
    document = condition.review.document
    audit_log.record(actor=actor, action=action, target=document, engagement=document.engagement,
                     data={"condition": condition.pk, "issue": condition.description, **data})
