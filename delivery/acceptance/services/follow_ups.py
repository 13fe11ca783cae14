"""The history of conditions, issues of the trial run and warranty claims, and these issues."""

from datetime import date, timedelta

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.acceptance.models import FollowUp, Review
from delivery.acceptance.services.reviews import preliminary_of
from delivery.documents.scan_validation import checked_scan
from delivery.planning.models import ProjectIssue
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, MigratedModel, Role, User

Step = FollowUp.Step
TO_ANSWER = timedelta(days=7)  # for an issue that was reported when the trial run was over


def add_step(actor: User, step: str, *, text: str = "", file=None, due_on: date | None = None,
             **about) -> FollowUp:
    """A line of the history of what `about` names: condition, issue or claim."""
    scan = checked_scan(file) if file else None
    return FollowUp.objects.create(step=step, text=text.strip()[:2000], due_on=due_on, by=actor,
                                   **about, **(scan.columns if scan else {}))


def said(text: str) -> str:
    """The remark; raises InvalidInput without one."""
    if not text.strip():
        raise InvalidInput(_("Say why, or what is still missing."))
    return text.strip()


def trial_of(engagement: Engagement) -> Review | None:
    """The preliminary acceptance whose trial run goes on, until the final one is concluded."""
    review = preliminary_of(engagement)
    is_over = Review.objects.filter(
        document__engagement=engagement, phase=Review.Phase.FINAL,
        decision__in=Review.PASSING, document__state="signed").exists()
    return None if is_over else review


@transaction.atomic
def report_trial_issue(*, actor: User, engagement: Engagement, description: str, level: str,
                       model: MigratedModel | None = None, file=None) -> ProjectIssue:
    """The customer reports what went wrong in the trial run; a project manager owns it at first.

    Raises WrongState where no trial run goes on, InvalidInput for nothing said.
    """
    require(actor, Can.REVIEW, engagement)
    trial = trial_of(engagement)
    if trial is None:
        raise WrongState(_("No trial run goes on; a defect after the final acceptance is claimed "
                           "under the warranty."))
    if model and model.engagement_id != engagement.pk:
        raise InvalidInput(_("The model belongs to another engagement."))
    engagement = Engagement.objects.select_for_update(
        of=("self",), no_key=True).get(pk=engagement.pk)
    today = timezone.localdate()
    issue = ProjectIssue.objects.create(
        engagement=engagement, model=model, description=said(description)[:400], level=level,
        affects_final=level == ProjectIssue.Level.BLOCKING, raised_on=today,
        owner=_first_owner(engagement, trial), due_on=max(trial.trial_ends_on, today + TO_ANSWER),
        number=(engagement.project_issues.aggregate(most=Max("number"))["most"] or 0) + 1)
    add_step(actor, Step.RAISED, text=description, file=file, issue=issue)
    _record(actor, issue, "trial_issue.report", {"level": level})
    return issue


def _first_owner(engagement: Engagement, trial: Review) -> User:
    manager = engagement.memberships.filter(
        role=Role.MANAGER, user__is_active=True).select_related("user").first()
    return manager.user if manager else trial.document.issued_by


@transaction.atomic
def comment_issue(*, actor: User, issue: ProjectIssue, text: str, file=None) -> FollowUp:
    """Either side says something about an issue that the customer reported."""
    require(actor, Can.REVIEW if actor.is_reviewer else Can.WORK, issue.engagement)
    made = add_step(actor, Step.NOTE, text=said(text), file=file, issue=_reported(issue))
    _record(actor, issue, "trial_issue.comment", {})
    return made


@transaction.atomic
def resolve_issue(*, actor: User, issue: ProjectIssue, text: str = "", file=None) -> ProjectIssue:
    """The customer says that an issue of the trial run is settled."""
    require(actor, Can.REVIEW, issue.engagement)
    issue = _reported(issue)
    if issue.closed_on:
        raise WrongState(_("This issue is already closed."))
    issue.closed_on = timezone.localdate()
    issue.save(update_fields=["closed_on"])
    add_step(actor, Step.CLOSED, text=text, file=file, issue=issue)
    _record(actor, issue, "trial_issue.resolve", {})
    return issue


def _reported(issue: ProjectIssue) -> ProjectIssue:
    """The locked issue, if the customer reported it."""
    found = ProjectIssue.objects.select_for_update(of=("self",), no_key=True).select_related(
        "engagement").get(pk=issue.pk)
    if not found.history.exists():
        raise InvalidInput(_("Choose an issue that the customer reported."))
    return found


def _record(actor: User, issue: ProjectIssue, action: str, data: dict) -> None:
    audit_log.record(actor=actor, action=action, target=issue, engagement=issue.engagement,
                     data={"issue": str(issue), **data})
