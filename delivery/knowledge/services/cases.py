"""Writes of solved cases."""

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from assessments.models import Outcome, Verdict
from delivery.knowledge import signatures
from delivery.knowledge.models import CaseEvidence, SolvedCase
from delivery.knowledge.prefill import cure_of_verdict
from delivery.planning.models import ProjectIssue
from engagements import duties
from engagements.access import Can, allowed, require, require_visible
from engagements.audit import audit_log
from engagements.duties import Duty
from engagements.errors import InvalidInput, WrongState
from engagements.models import AuditEntry, User
from engagements.optimistic_locking import assign, lock_checked, save_changes
from workers import kinds
from workers.models import Job, JobState
from workers.models.job import TROUBLED_STATES

Shows = CaseEvidence.Shows
MOST_VERSIONS = 30


def _done_by(case: SolvedCase) -> Mapping[Duty, set]:
    wrote = AuditEntry.objects.filter(
        target_type=case._meta.label_lower, target_id=str(case.pk), action="case.update")
    return {Duty.AUTHOR: {case.recorded_by_id, *wrote.values_list("actor", flat=True)},
            Duty.APPROVER: {case.approved_by_id}}


DUTIES = duties.register(duties.DutyRule(
    code="solved_case", title=gettext_lazy("Solved cases"), done_by=_done_by,
    steps=lambda _case: [duties.Step(Duty.APPROVER, _("Approve the text"),
                                     lambda user: allowed(user, Can.MANAGE))]))


@transaction.atomic
def add_case(*, actor: User, title: str, cause: str, cure: str, diagnosis: str = "",
             error_code: str = "", operator: str = "", tool: str = "", log_pattern: str = "",
             versions: dict[str, str] | None = None, job: Job | None = None,
             issue: ProjectIssue | None = None, verdict: Verdict | None = None,
             cured_by: Job | None = None) -> SolvedCase:
    """Record a solved problem with the job, issue or verdict that shows it.

    Writes the case, its evidence and an audit entry.

    Args:
        cured_by: a later successful job of the same engagement that shows the cure. Of a verdict
            the later passed one is taken, of an issue that it is closed.
    Raises InvalidInput for a signature that would fit everything or nothing, and for evidence that
    is none; WrongState for an open issue and for a verdict that did not pass since.
    """
    require(actor, Can.WORK)
    shown = _problem_of(actor, job, issue, verdict)
    case = SolvedCase(
        engagement=shown.engagement, title=title.strip(), cause=cause.strip(), cure=cure.strip(),
        tool=tool.strip(), diagnosis=diagnosis.strip(), error_code=error_code.strip(),
        operator=operator.strip(), log_pattern=log_pattern.strip(), versions=versions or {},
        recorded_by=actor,
        is_practice=bool((job and job.is_practice) or (verdict and verdict.is_practice)))
    _check(case)
    case.save()
    _keep(actor, case, shown)
    for cure_shown in _cures_of(actor, shown, cured_by):
        _keep(actor, case, cure_shown)
    _record(actor, "case.add", case)
    return case


@transaction.atomic
def update_case(*, actor: User, case: SolvedCase, seen: int | None = None, **fields: Any
                ) -> SolvedCase:
    """Change a case's words or signature; another text is not approved. Writes an audit entry.

    Raises EditConflict when it moved on since version `seen`, InvalidInput as `add_case` does.
    """
    require(actor, Can.WORK)
    case = _own(actor, case, seen)
    changed = assign(case, {name: value.strip() if isinstance(value, str) else value
                            for name, value in fields.items()})
    _check(case)
    if case.text_hash != case.approved_hash:
        case.approved_by, case.approved_at, case.approved_hash = None, None, ""
    save_changes(case, actor=actor, action="case.update", engagement=None, changed=changed)
    return case


def may_approve(user: User, case: SolvedCase) -> bool:
    """A manager who has not written it, as long as it is not approved."""
    return case.approved_at is None and allowed(user, Can.MANAGE) and not duties.conflict(
        DUTIES, user, case, Duty.APPROVER)


@transaction.atomic
def approve_case(*, actor: User, case: SolvedCase, seen: int) -> SolvedCase:
    """Share a case with all engagements, with its text as version `seen` has it. Writes an audit
    entry.

    Raises NotAllowed for its writers, other roles and tokens, WrongState for one that is approved,
    EditConflict when it moved on since version `seen`.
    """
    require(actor, Can.MANAGE)
    case = _own(actor, case, seen)
    if case.approved_at:
        raise WrongState(_("The case is approved already."))
    duties.require_separated(DUTIES, actor, case, Duty.APPROVER)
    case.approved_by, case.approved_at = actor, timezone.now()
    case.approved_hash = case.text_hash
    case.lock_version += 1
    case.save()
    _record(actor, "case.approve", case, hash=case.approved_hash)
    return case


@transaction.atomic
def retire_case(*, actor: User, case: SolvedCase, reason: str, seen: int | None = None
                ) -> SolvedCase:
    """Propose the case no longer; it stays readable within its engagement. Writes an audit entry.

    Raises InvalidInput without a reason, WrongState for one that is retired, EditConflict when it
    moved on since version `seen`.
    """
    require(actor, Can.WORK)
    case = _own(actor, case, seen)
    if case.retired_at:
        raise WrongState(_("The case is retired already."))
    if not reason.strip():
        raise InvalidInput(_("Say why the case no longer helps."))
    case.retired_at, case.retired_reason = timezone.now(), reason.strip()[:240]
    case.lock_version += 1
    case.save()
    _record(actor, "case.retire", case)
    return case


@transaction.atomic
def restore_case(*, actor: User, case: SolvedCase, seen: int | None = None) -> SolvedCase:
    """Propose a retired case again. Writes an audit entry.

    Raises WrongState for one in force, EditConflict when it moved on since version `seen`.
    """
    require(actor, Can.WORK)
    case = _own(actor, case, seen)
    if not case.retired_at:
        raise WrongState(_("The case is in force."))
    case.retired_at, case.retired_reason = None, ""
    case.lock_version += 1
    case.save()
    _record(actor, "case.restore", case)
    return case


@transaction.atomic
def add_evidence(*, actor: User, case: SolvedCase, job: Job) -> CaseEvidence:
    """Note a further job with the case: one that failed shows the problem, one that succeeded
    the cure. Writes an audit entry.

    Raises InvalidInput for a job that is noted already, WrongState for one that has not ended or
    was cancelled, and for one of another engagement where the case is not approved.
    """
    require(actor, Can.WORK)
    case = lock_checked(case, None)
    if job.state in TROUBLED_STATES:
        shows = Shows.PROBLEM
    elif job.state == JobState.SUCCEEDED:
        shows = Shows.CURE
    else:
        raise WrongState(_("Job %(job)s has neither failed nor succeeded, so it proves nothing.")
                         % {"job": job.pk})
    require_visible(actor, job.engagement)
    if not case.approved_at and job.engagement != case.engagement:
        raise WrongState(_("Nobody has approved the text of the case, so it serves its own "
                           "engagement only."))
    row = _keep(actor, case, CaseEvidence(shows=shows, job=job, engagement=job.engagement))
    if case.is_practice and not job.is_practice:
        case.is_practice = False
        case.save(update_fields=["is_practice"])
    _record(actor, "case.evidence", case, job=job.pk, shows=shows)
    return row


def _own(actor: User, case: SolvedCase, seen: int | None) -> SolvedCase:
    """The case, locked, for whoever sees its engagement: a shared one may be read elsewhere."""
    require_visible(actor, case.engagement)
    return lock_checked(case, seen)


def _problem_of(actor: User, job: Job | None, issue: ProjectIssue | None,
                verdict: Verdict | None) -> CaseEvidence:
    """What shows the problem; raises for what shows none."""
    if sum(one is not None for one in (job, issue, verdict)) != 1:
        raise InvalidInput(_("Name the failed job, the issue or the verdict that shows the "
                             "problem: one of them."))
    row = CaseEvidence(shows=Shows.PROBLEM, job=job, issue=issue, verdict=verdict)
    if job:
        row.engagement = job.engagement
        if job.state not in TROUBLED_STATES:
            raise WrongState(_("Job %(job)s has not failed.") % {"job": job.pk})
    elif issue:
        row.engagement = issue.engagement
        if not issue.closed_on:
            raise WrongState(_("The issue is still open: close it once it is solved, then record "
                               "the case."))
    else:
        row.engagement = verdict.criterion.criteria_set.engagement
        if verdict.outcome != Outcome.FAILED:
            raise WrongState(_("The verdict is not “failed”."))
        if cure_of_verdict(verdict) is None:
            raise WrongState(_("The criterion has not passed since: record the case once it is "
                               "solved."))
    require_visible(actor, row.engagement)
    return row


def _cures_of(actor: User, problem: CaseEvidence, cured_by: Job | None) -> list[CaseEvidence]:
    """What shows the cure, as far as something does."""
    found = []
    if cured_by:
        if cured_by.state != JobState.SUCCEEDED or cured_by.engagement != problem.engagement or (
                problem.job and cured_by.pk <= problem.job.pk):
            raise InvalidInput(_("Job %(job)s is not a later successful job of the same "
                                 "engagement.")
                               % {"job": cured_by.pk})
        found.append(CaseEvidence(shows=Shows.CURE, job=cured_by, engagement=problem.engagement))
    if problem.verdict:
        found.append(CaseEvidence(shows=Shows.CURE, verdict=cure_of_verdict(problem.verdict),
                                  engagement=problem.engagement))
    return found


def _keep(actor: User, case: SolvedCase, row: CaseEvidence) -> CaseEvidence:
    row.case, row.added_by = case, actor
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError as error:
        raise InvalidInput(_("This is already recorded as evidence of the case.")) from error
    return row


def _check(case: SolvedCase) -> None:
    """Raise InvalidInput for a case that says too little or too much."""
    for name in ("title", "cause", "cure"):
        if not getattr(case, name):
            label = SolvedCase._meta.get_field(name).verbose_name
            raise InvalidInput(_("“%(field)s” is empty.") % {"field": label},
                               parameters={name: [_("This field is required.")]})
    if case.tool and case.tool not in {kind.code for kind in kinds.all_kinds()}:
        raise InvalidInput(_("There is no job type “%(kind)s”.") % {"kind": case.tool})
    if case.log_pattern and not signatures.is_telling(case.log_pattern):
        sentence = _("The log pattern would fit almost every log: it needs at least %(n)d "
                     "characters beside *.") % {"n": signatures.LEAST_LITERAL}
        raise InvalidInput(sentence, parameters={"log_pattern": [sentence]})
    if len(signatures.parts_of(case.log_pattern)) > signatures.MOST_PARTS:
        raise InvalidInput(_("The log pattern has more than %(n)d parts between its *.")
                           % {"n": signatures.MOST_PARTS})
    tells_by_itself = case.diagnosis and case.diagnosis not in signatures.GENERIC
    if not (tells_by_itself or case.error_code or case.operator or case.log_pattern):
        raise InvalidInput(_("State what identifies the problem: an error code, an operator, a "
                             "log pattern, or a diagnosis that few failures share."))
    _check_versions(case.versions)


def _check_versions(versions: Any) -> None:
    if not isinstance(versions, dict) or len(versions) > MOST_VERSIONS or not all(
            isinstance(name, str) and isinstance(value, str) and len(name) <= 40
            and len(value) <= 80 for name, value in versions.items()):
        raise InvalidInput(_("Versions are names with short texts, at most %(n)d of them.")
                           % {"n": MOST_VERSIONS})


def _record(actor: User, action: str, case: SolvedCase, **data: Any) -> None:
    """Without an engagement: its own log names no case of others."""
    audit_log.record(actor=actor, action=action, target=case, data=data)
