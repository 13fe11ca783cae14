"""Outstanding issues: the team reports what was done; the customer confirms and closes, sends back
or reopens."""

from datetime import date

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.acceptance.certificates import follow_certificate
from delivery.acceptance.models import Condition, FollowUp
from delivery.acceptance.services.follow_ups import add_step, said
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import User


def _locked(condition: Condition) -> Condition:
    return Condition.objects.select_for_update(of=("self",), no_key=True).select_related(
        "review__document__engagement").get(pk=condition.pk)


def _locked_open(condition: Condition) -> Condition:
    found = _locked(condition)
    if found.closed_at:
        raise WrongState(_("This issue is already closed."))
    return found


@transaction.atomic
def report_condition(*, actor: User, condition: Condition, report: str, file=None
                     ) -> Condition:
    """Report what was done about an outstanding issue, by the team or by whose it is; notifies the
    customer."""
    is_own = actor.pk == condition.owner_user_id
    require(actor, Can.REVIEW if is_own and actor.is_reviewer else Can.WORK, condition.engagement)
    condition = _locked_open(condition)
    if not report.strip():
        raise InvalidInput(_("Describe what was done."))
    condition.report, condition.reported_by = report.strip()[:400], actor
    condition.reported_at = timezone.now()
    condition.save()
    add_step(actor, FollowUp.Step.REPORTED, text=report, file=file, condition=condition)
    _record(actor, condition, "review.condition_report", {"report": condition.report})
    return condition


@transaction.atomic
def close_condition(*, actor: User, condition: Condition, text: str = "", file=None
                    ) -> Condition:
    """The customer confirms that an outstanding issue is closed.

    Acceptance stages and the engagement's state follow (see `follow_certificate`).
    """
    require(actor, Can.REVIEW, condition.review.engagement)
    condition = _locked_open(condition)
    if not condition.reported_at:
        raise WrongState(_("The team has not yet reported what was done."))
    condition.closed_at, condition.closed_by = timezone.now(), actor
    condition.save()
    add_step(actor, FollowUp.Step.CLOSED, text=text, file=file, condition=condition)
    follow_certificate(actor=actor, engagement=condition.review.engagement)
    _record(actor, condition, "review.condition_close", {})
    return condition


@transaction.atomic
def send_back_condition(*, actor: User, condition: Condition, text: str, file=None,
                        due_on: date | None = None) -> Condition:
    """The customer does not confirm what was reported: the condition is open again."""
    return _open_again(actor, condition, FollowUp.Step.SENT_BACK, text, file, due_on)


@transaction.atomic
def reopen_condition(*, actor: User, condition: Condition, text: str, file=None,
                     due_on: date | None = None) -> Condition:
    """The customer takes a closing back; stages and the engagement's state follow."""
    return _open_again(actor, condition, FollowUp.Step.REOPENED, text, file, due_on)


def _open_again(actor: User, condition: Condition, step: str, text: str, file, due_on
                ) -> Condition:
    require(actor, Can.REVIEW, condition.engagement)
    condition = _locked(condition)
    if step == FollowUp.Step.REOPENED and not condition.closed_at:
        raise WrongState(_("This issue is not closed."))
    if step == FollowUp.Step.SENT_BACK and (condition.closed_at or not condition.reported_at):
        raise WrongState(_("The team has not yet reported what was done."))
    if due_on and due_on <= timezone.localdate():
        raise InvalidInput(_("The new due date must be after today."))
    add_step(actor, step, text=said(text), file=file, due_on=due_on, condition=condition)
    condition.due_on = due_on or condition.due_on
    condition.reported_at = condition.reported_by = None
    condition.closed_at = condition.closed_by = None
    condition.report = ""
    condition.save()
    follow_certificate(actor=actor, engagement=condition.engagement)
    name = "reopen" if step == FollowUp.Step.REOPENED else "send_back"
    _record(actor, condition, f"review.condition_{name}", {
        "remark": text.strip(), "due_on": due_on})
    return condition


def _record(actor: User, condition: Condition, action: str, data: dict) -> None:
    document = condition.review.document
    audit_log.record(actor=actor, action=action, target=document, engagement=document.engagement,
                     data={"condition": condition.pk, "issue": condition.description, **data})
