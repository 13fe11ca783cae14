"""Claims under the warranty: raised, taken on, repaired with a regression run; closed or sent back
by the customer."""

from datetime import date

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.acceptance.certificates import certificate_in_force, warranty_period
from delivery.acceptance.models import FollowUp, WarrantyClaim
from delivery.acceptance.services.follow_ups import add_step, said
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, MigratedModel, User
from workers.models import Job, JobState


@transaction.atomic
def raise_claim(*, actor: User, engagement: Engagement, description: str, found_on: date,
                model: MigratedModel | None = None, file=None) -> WarrantyClaim:
    """Claim a defect; whether the warranty covers the day on which it was found is computed.

    Raises WrongState before a final acceptance has begun a warranty, InvalidInput for a day that
    has not come or lies before it, nothing said, or a model of another engagement.
    """
    _require(actor, Can.REVIEW if actor.is_reviewer else Can.WORK, engagement)
    engagement = Engagement.objects.select_for_update(
        of=("self",), no_key=True).get(pk=engagement.pk)
    certificate = certificate_in_force(engagement)
    period = warranty_period(certificate.review) if hasattr(certificate, "review") else None
    if period is None:
        raise WrongState(_("No final acceptance has begun a warranty period."))
    _check(engagement, description, found_on, model, period[0])
    claim = WarrantyClaim.objects.create(
        engagement=engagement, model=model, description=description.strip(), found_on=found_on,
        number=(engagement.warranty_claims.aggregate(n=Max("number"))["n"] or 0) + 1,
        is_covered=found_on <= period[1], raised_by=actor)
    add_step(actor, FollowUp.Step.RAISED, text=description, file=file, claim=claim)
    _record(actor, claim, "warranty.claim", {"found_on": found_on, "covered": claim.is_covered})
    return claim


def _require(actor: User, action: Can, engagement: Engagement) -> None:
    """A defect that was found within the warranty is claimed and repaired after the closing, too;
    who cancels an engagement settles the warranty with it."""
    require(actor, action, engagement,
            may_have_ended=engagement.state not in Engagement.NEVER_DUE)


def _check(engagement: Engagement, description: str, found_on: date, model: MigratedModel | None,
           begins: date) -> None:
    if not description.strip():
        raise InvalidInput(_("Say what is wrong."))
    if not begins <= found_on <= timezone.localdate():
        raise InvalidInput(_("The defect was found between %(first)s, when the warranty began, "
                             "and today; check the date.") % {"first": begins.isoformat()})
    if model and model.engagement_id != engagement.pk:
        raise InvalidInput(_("The model belongs to another engagement."))


@transaction.atomic
def report_repair(*, actor: User, claim: WarrantyClaim, report: str, regression: Job
                  ) -> WarrantyClaim:
    """Say what was repaired, and name the run that shows it: one that succeeded after the claim."""
    _require(actor, Can.WORK, claim.engagement)
    claim = _locked_open(claim)
    if not report.strip():
        raise InvalidInput(_("Say what was repaired."))
    _check_run(claim, regression)
    claim.report, claim.regression, claim.reported_by = report.strip()[:400], regression, actor
    claim.reported_at = timezone.now()
    claim.save()
    add_step(actor, FollowUp.Step.REPORTED, text=claim.report, claim=claim)
    _record(actor, claim, "warranty.repair", {"job": regression.pk, "report": claim.report})
    return claim


def _check_run(claim: WarrantyClaim, run: Job) -> None:
    is_of_it = run.engagement_id == claim.engagement_id and (
        claim.model_id is None or run.model_id == claim.model_id)
    if not is_of_it or run.state != JobState.SUCCEEDED:
        raise InvalidInput(_("Name a run of this engagement and model that succeeded."))
    if run.finished_at is None or run.finished_at < claim.raised_at:
        raise InvalidInput(_("Run #%(run)d ended before the claim; run the regression again.")
                           % {"run": run.pk})


@transaction.atomic
def close_claim(*, actor: User, claim: WarrantyClaim) -> WarrantyClaim:
    """The customer confirms the repair."""
    _require(actor, Can.REVIEW, claim.engagement)
    claim = _locked_open(claim)
    if not claim.reported_at:
        raise WrongState(_("No repair has been reported yet."))
    claim.closed_by, claim.closed_at = actor, timezone.now()
    claim.save()
    add_step(actor, FollowUp.Step.CLOSED, claim=claim)
    _record(actor, claim, "warranty.close", {})
    return claim


@transaction.atomic
def take_claim(*, actor: User, claim: WarrantyClaim) -> WarrantyClaim:
    """Somebody of the team works on it from now on."""
    _require(actor, Can.WORK, claim.engagement)
    claim = _locked_open(claim)
    claim.owner = actor
    claim.save(update_fields=["owner"])
    _record(actor, claim, "warranty.take", {})
    return claim


@transaction.atomic
def send_back_claim(*, actor: User, claim: WarrantyClaim, text: str, file=None) -> WarrantyClaim:
    """The customer does not confirm the repair: the claim is open again."""
    _require(actor, Can.REVIEW, claim.engagement)
    claim = _locked_open(claim)
    if not claim.reported_at:
        raise WrongState(_("No repair has been reported yet."))
    add_step(actor, FollowUp.Step.SENT_BACK, text=said(text), file=file, claim=claim)
    claim.report, claim.regression = "", None
    claim.reported_by = claim.reported_at = None
    claim.save()
    _record(actor, claim, "warranty.send_back", {"remark": text.strip()})
    return claim


def _locked_open(claim: WarrantyClaim) -> WarrantyClaim:
    claim = WarrantyClaim.objects.select_for_update(of=("self",), no_key=True).select_related(
        "engagement").get(pk=claim.pk)
    if claim.closed_at:
        raise WrongState(_("This claim is closed already."))
    return claim


def _record(actor: User, claim: WarrantyClaim, action: str, data: dict) -> None:
    audit_log.record(actor=actor, action=action, target=claim, engagement=claim.engagement,
                     data={"claim": str(claim), **data})
