"""Queueing, cancelling and retrying jobs."""

from collections.abc import Sequence
from datetime import datetime
from functools import cache

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from engagements.access import Can, allowed
from engagements.audit import audit_log
from engagements.conflict_retry import retried
from engagements.errors import DeskError, InvalidInput, NotAllowed
from engagements.models import Agent, Engagement, MigratedModel, User
from engagements.moves import require_move
from engagements.services import mark_practice
from engagements.text.text_joining import following, labelled
from toolreaders.masking import mask_tree
from workers import kinds
from workers.artifacts import provenance
from workers.dispatch import enqueueing, gang_members, job_files
from workers.dispatch.transitions import TRANSITIONS, JobMove
from workers.jobs.form_defaults import defaults_for
from workers.models import (
    PURPOSE_OF_STAGE,
    ChainStep,
    Gang,
    Job,
    JobState,
    Node,
    NodeLogin,
    NodeReservation,
    Priority,
    Purpose,
    Runtime,
)
from workers.models.job import WAITING_STATES
from workers.rules.facts import stored
from workers.runtimes.chosen import Chosen
from workers.services import agent_hours, job_checks, job_plans, runtimes
from workers.services.job_checks import Checked
from workers.services.job_inputs import Found as Inputs


@retried
@transaction.atomic
def queue_job(
    *, actor: User, kind: str, parameters: dict | None = None,
    engagement: Engagement | None = None, model: MigratedModel | None = None, stage: str = "",
    node: Node | None = None, priority: int = Priority.NORMAL,
    nodes: Sequence[Node] = (), restarts: int = 0, runtime: Runtime | None = None,
    is_regression: bool = False, purpose: str = "", priority_reason: str = "",
    agent: Agent | None = None, plan: str = "",
) -> Job:
    """A new job in the queue; workers are woken once this has committed.

    Args:
        purpose: one of `Purpose`; empty for that of its stage.
        nodes: several that run it together ; the first is where ranks meet.
        restarts: how often all of them begin again after a failure.
        runtime: for this job; else that of its model, its engagement or its node.
        is_regression: repeats an accepted run; what it measures bears on no verdict.
        agent: that of the chain that goes on; else the one that signed in.
        plan: the hash that `job_plans.plan_job` gave for it; WrongState where it is another job.

    Raises InvalidInput naming the parameter or, in `parameters`, the sentences of blocking rules
    (DOMAIN 5); NotAllowed; WrongState for a node not ready; BudgetExceeded where an agent has not
    enough card hours left. Warnings are kept with the job.
    """
    job = _queue_not_enqueued(actor, kind, parameters, engagement, model, stage, node, priority,
                              nodes=nodes, restarts=restarts, runtime=runtime,
                              is_regression=is_regression, purpose=purpose,
                              priority_reason=priority_reason, agent=agent, plan=plan)
    _wake(job)
    return job


def _queue_not_enqueued(
    actor: User, kind: str, parameters: dict | None = None, engagement: Engagement | None = None,
    model: MigratedModel | None = None, stage: str = "", node: Node | None = None,
    priority: int = Priority.NORMAL, known_of_node=stored.of_node, retry_of: Job | None = None,
    nodes: Sequence[Node] = (), restarts: int = 0, runtime: Runtime | None = None,
    is_regression: bool = False, purpose: str = "", priority_reason: str = "",
    agent: Agent | None = None, plan: str = "",
) -> Job:
    if priority > Priority.NORMAL and retry_of is None:
        _require_urgent(actor, priority_reason)
    found = job_checks.checked(
        actor, kind=kind, parameters=parameters, engagement=engagement, model=model, node=node,
        nodes=nodes, restarts=restarts, runtime=runtime, known_of_node=known_of_node)
    preflight = found.require_passed()
    if plan:
        job_plans.require_as_planned(found, restarts, plan)
    declaration, values, several, targets = found.kind, found.values, found.several, found.targets
    engagement, inputs, environments = found.engagement, found.inputs, found.environments
    node = None if several else targets[0]
    on_node = declaration.runs_on_node and not several
    stage = stage or next(iter(declaration.stages), "")
    is_regression = retry_of.is_regression if retry_of else is_regression
    job = Job.objects.create(
        kind=kind, engagement=engagement, model=model, stage=stage,
        purpose=purpose or _purpose(declaration, stage, inputs, is_regression=is_regression),
        node=node if on_node else None,
        parameters=values, nodes_wanted=len(targets),
        login=NodeLogin.objects.of_new_jobs(node, engagement) if on_node else None,
        command=declaration.argv(values) if on_node else [],
        runtime=(declaration.runtime(values) or environments[0].as_json()) if on_node else {},
        cards_wanted=declaration.cards_for(values), created_by=actor,
        agent=agent or actor.agent,
        is_practice=inputs.is_practice or (
            declaration.runs_on_node and any(n and n.is_practice for n in targets)),
        timeout_seconds=declaration.time_limit(values), priority=priority,
        priority_reason=priority_reason or (retry_of.priority_reason if retry_of else ""),
        next_step_at=timezone.now(), results={"preflight": preflight}, retry_of=retry_of,
        attempt=retry_of.attempt + 1 if retry_of else 1,
        is_regression=is_regression,
    )
    if retry_of:
        ChainStep.objects.filter(job=retry_of).update(job=job)
    if job.is_practice and engagement:
        mark_practice(engagement=engagement)
    inputs.keep(declaration, job)
    job_files.store_outputs(job, declaration.stored_files(values))
    if several:
        gang = _add_members(job, several, restarts, engagement, environments)
        inputs.keep_for_members(gang.present())
    if job.agent_id:
        agent_hours.reserve(job)
    audit_log.record(actor=actor, action="job.queue", target=job, engagement=engagement,
                     data={"parameters": values and mask_tree(values)})
    return job


def _purpose(kind: kinds.JobKind, stage: str, inputs: Inputs, *, is_regression: bool
             ) -> str:
    """That of the stage; what the server computes from nothing but files of the source platform
    tells of that, and a regression run serves no verdict."""
    if not kind.runs_on_node and inputs.files and all(map(provenance.is_of_source, inputs.files)):
        return Purpose.SOURCE
    return Purpose.OTHER if is_regression else PURPOSE_OF_STAGE.get(stage, Purpose.OTHER)


def _add_members(job: Job, nodes: list[Node], restarts: int, engagement: Engagement | None,
                 environments: list[Chosen]) -> Gang:
    """The rows behind a job on several nodes; the caller writes the audit entry, afterwards."""
    gang = Gang.objects.create(job=job, restarts_allowed=restarts)
    logins = {node.pk: NodeLogin.objects.of_new_jobs(node, engagement) for node in nodes}
    by_node = {node.pk: way.as_json() for node, way in zip(nodes, environments, strict=True)}
    gang_members.make(gang, nodes, job, logins, by_node, {})
    return gang


@retried
@transaction.atomic
def queue_jobs(*, actor: User, orders: list[dict]) -> list[Job]:
    """Queue many jobs, all of them or none.

    Args:
        orders: the arguments of `queue_job` for each.
    Raises InvalidInput with `jobs`: why, by position from 0, for every one that is refused;
    NotAllowed.
    """
    jobs, refused, known = [], {}, cache(stored.of_node)
    for position, order in enumerate(orders):
        try:
            with transaction.atomic():
                jobs.append(_queue_not_enqueued(actor, **order, known_of_node=known))
        except NotAllowed:
            raise
        except DeskError as error:
            refused[position] = {"detail": error.message, **error.details}
    if refused:
        raise InvalidInput(_("No job was queued: %(refused)d of %(all)d are refused.")
                           % {"refused": len(refused), "all": len(orders)}, jobs=refused)
    enqueueing.poll_on_commit(sorted({job.node_id for job in jobs if job.node_id}))
    for job in jobs:
        if job.node_id is None:
            enqueueing.advance_on_commit(job.pk)
    return jobs


def queue_for_models(*, actor: User, kind: str, models: Sequence[MigratedModel],
                     parameters: dict | None = None, **order) -> list[Job]:
    """The same job for each model, all of them or none.

    Args:
        models: `parameters` are those of the first one. Where they hold what is known of it, each
            other model gets what is known of that (`jobs.form_defaults`).
        order: what else `queue_job` takes.
    Raises InvalidInput, naming the models and why, where a job is refused; NotAllowed.
    """
    try:
        return queue_jobs(actor=actor, orders=_orders(kind, models, parameters or {}, order))
    except InvalidInput as error:
        raise InvalidInput(following(error.message, *(
            labelled(models[position].code, refusal["detail"])
            for position, refusal in error.details["jobs"].items()))) from error


def check_for_models(*, actor: User, kind: str, models: Sequence[MigratedModel | None],
                     parameters: dict | None = None, **order) -> list[Checked]:
    """What `queue_for_models` would find, for each model; `None` is a job of no model. Nothing is
    queued. Raises NotAllowed."""
    return [job_checks.checked(actor, **each)
            for each in _orders(kind, models, parameters or {}, order)]


def _orders(kind: str, models: Sequence[MigratedModel | None], parameters: dict, order: dict
            ) -> list[dict]:
    declaration, (first, *others) = kinds.get(kind), models
    known = defaults_for(declaration, first) if others else {}
    return [{"kind": kind, **order, "model": model, "parameters": _own_values(
        parameters, known, defaults_for(declaration, model)) if others else parameters}
        for model in models]


def _own_values(values: dict, known: dict, own: dict) -> dict:
    return {name: own[name] if name in own and value == known.get(name) else value
            for name, value in values.items()}


def _wake(job: Job) -> None:
    """Wake somebody for the job; one that waits on the same node has somebody on the way."""
    if job.node_id is None:
        enqueueing.advance_on_commit(job.pk)
    elif not Job.objects.due(timezone.now()).filter(
            node=job.node_id, state=JobState.QUEUED).exclude(pk=job.pk).exists():
        enqueueing.poll_on_commit([job.node_id])


@retried
@transaction.atomic
def cancel_job(*, actor: User, job: Job, reason: str = "") -> Job:
    """Ask for the end of a job; the cards stay leased until nothing of it runs.

    Raises InvalidInput where an operator ends a project's job without a reason.
    """
    job = _locked_for(actor, job, JobMove.CANCEL)
    is_overruled = bool(job.engagement_id) and not allowed(actor, Can.WORK)
    if is_overruled and not reason.strip():
        raise InvalidInput(_("Give the reason."))
    if job.cancel_requested_at is None:
        job.cancel_requested_at = job.next_step_at = timezone.now()
        job.save(update_fields=["cancel_requested_at", "next_step_at"])
        audit_log.record(actor=actor, action=TRANSITIONS[JobMove.CANCEL].audit.code, target=job,
                         engagement=job.engagement, data={"reason": reason.strip(), **(
                             {"overruled": "yes"} if is_overruled else {})} if reason else None)
        enqueueing.advance_on_commit(job.pk)
    return job


def stop_for_maintenance(now: datetime) -> list[Job]:
    """End what runs on nodes whose maintenance stops jobs by now; owners are told. Returns the
    jobs; what waits stays in the queue."""
    windows = NodeReservation.objects.filter(stops_jobs_at__lte=now, ends_at__gt=now)
    stopped = []
    for window in windows.select_related("node"):
        running = Job.objects.filter(node=window.node, cancel_requested_at=None).in_flight()
        for job in running.exclude(state__in=(*WAITING_STATES, JobState.STAGING)).select_related(
                "gang"):
            stopped.append(_stop_for(window, job.gang.job_id if job.gang else job.pk, now))
    return [job for job in stopped if job]


@retried
@transaction.atomic
def _stop_for(window: NodeReservation, pk: int, now: datetime) -> Job | None:
    job = Job.objects.select_for_update(of=("self",), no_key=True).get(pk=pk)
    if job.is_final or job.cancel_requested_at:
        return None
    job.cancel_requested_at = job.next_step_at = now
    job.save(update_fields=["cancel_requested_at", "next_step_at"])
    audit_log.record(actor=None, action=TRANSITIONS[JobMove.CANCEL].audit.code, target=job,
                     engagement=job.engagement, data={
        "reason": f"{window.node.name}: {window.reason}", "overruled": "maintenance"})
    enqueueing.advance_on_commit(job.pk)
    return job


@retried
@transaction.atomic
def hold_job(*, actor: User, job: Job, reason: str) -> Job:
    """Keep a waiting job from starting; its owner is told."""
    return _rule(actor, job, JobMove.HOLD, reason, hold_reason=reason.strip()[:160])


@retried
@transaction.atomic
def release_job(*, actor: User, job: Job) -> Job:
    """Let a held job go on in its place."""
    return _rule(actor, job, JobMove.RELEASE, "", hold_reason="")


@retried
@transaction.atomic
def set_priority(*, actor: User, job: Job, priority: int, reason: str) -> Job:
    """Move a waiting job in the queue; its owner is told."""
    return _rule(actor, job, JobMove.PRIORITY, reason, priority=priority,
                 priority_reason=reason.strip()[:160])


def _rule(actor: User, job: Job, move: str, reason: str, **changes) -> Job:
    """Members of a job on several nodes follow it."""
    job = _locked_for(actor, job, move, reason)
    Job.objects.filter(pk=job.pk).update(**changes, next_step_at=timezone.now())
    Job.objects.filter(gang__job=job).update(**changes)
    audit_log.record(actor=actor, action=TRANSITIONS[move].audit.code, target=job,
                     engagement=job.engagement, data={**changes, "reason": reason.strip()})
    enqueueing.advance_on_commit(job.pk)
    job.refresh_from_db()
    return job


def _require_urgent(actor: User, reason: str) -> None:
    """Raises NotAllowed for who may not put a job before all others, InvalidInput without a
    reason."""
    if not allowed(actor, Can.OPERATE) and not allowed(actor, Can.MANAGE):
        raise NotAllowed(_("Urgent jobs are for managers and operators; ask one of them."))
    if not reason.strip():
        raise InvalidInput(_("Give the reason why the job is urgent."))


@transaction.atomic
def cancel_jobs_of(*, actor: User, **owner: MigratedModel | Engagement) -> None:
    """Ask for the end of all jobs of a `model` or `engagement` that are on their way."""
    for job in Job.objects.filter(**owner).whole().in_flight().order_by("pk"):
        cancel_job(actor=actor, job=job)


@retried
@transaction.atomic
def retry_job(*, actor: User, job: Job) -> Job:
    """A new attempt with the same parameters, linked to the old one."""
    job = _locked_for(actor, job, JobMove.RETRY)
    new = _queue_not_enqueued(actor, job.kind, job.parameters, job.engagement, job.model, job.stage,
                              job.node, job.priority, retry_of=job, purpose=job.purpose,
                              runtime=runtimes.own_of(job), **_order_of_members(job))
    _wake(new)
    return new


def _order_of_members(job: Job) -> dict:
    """The arguments with which the job is queued again: its nodes and restarts."""
    if job.nodes_wanted == 1:
        return {}
    members = job.own_gang.present()
    return {"nodes": [member.node for member in members],
            "restarts": job.own_gang.restarts_allowed}


def _locked_for(actor: User, job: Job, move: str, reason: str | None = None) -> Job:
    job = Job.objects.select_for_update(of=("self",), no_key=True).get(pk=job.pk)
    require_move(actor, TRANSITIONS, job, move, reason)
    return job
