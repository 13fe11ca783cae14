"""Queueing, cancelling and retrying jobs."""

from collections.abc import Sequence
from functools import cache

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from engagements.audit import audit_log
from engagements.conflict_retry import retried
from engagements.errors import DeskError, InvalidInput, NotAllowed
from engagements.models import Engagement, MigratedModel, User
from engagements.moves import require_move
from engagements.services import mark_practice
from engagements.text.text_joining import following, labelled
from workers import kinds
from workers.dispatch import enqueueing, gang_members, job_files
from workers.dispatch.transitions import TRANSITIONS, JobMove
from workers.jobs.form_defaults import defaults_for
from workers.models import Gang, Job, JobState, Node, NodeLogin, Priority, Runtime
from workers.rules.facts import stored
from workers.runtimes.chosen import Chosen
from workers.services import job_checks, runtimes
from workers.services.job_checks import Checked


@retried
@transaction.atomic
def queue_job(
    *, actor: User, kind: str, parameters: dict | None = None,
    engagement: Engagement | None = None, model: MigratedModel | None = None, stage: str = "",
    node: Node | None = None, priority: int = Priority.NORMAL,
    nodes: Sequence[Node] = (), restarts: int = 0, runtime: Runtime | None = None,
    is_regression: bool = False,
) -> Job:
    """A new job in the queue; workers are woken once this has committed.

    Args:
        nodes: several that run it together ; the first is where ranks meet.
        restarts: how often all of them begin again after a failure.
        runtime: for this job; else that of its model, its engagement or its node.
        is_regression: repeats an accepted run; what it measures bears on no verdict.

    Raises InvalidInput naming the parameter or, in `parameters`, the sentences of blocking rules
    (DOMAIN 5); NotAllowed; WrongState for a node not ready. Warnings are kept with the job.
    """
    job = _queue_not_enqueued(actor, kind, parameters, engagement, model, stage, node, priority,
                              nodes=nodes, restarts=restarts, runtime=runtime,
                              is_regression=is_regression)
    _wake(job)
    return job


def _queue_not_enqueued(
    actor: User, kind: str, parameters: dict | None = None, engagement: Engagement | None = None,
    model: MigratedModel | None = None, stage: str = "", node: Node | None = None,
    priority: int = Priority.NORMAL, known_of_node=stored.of_node, retry_of: Job | None = None,
    nodes: Sequence[Node] = (), restarts: int = 0, runtime: Runtime | None = None,
    is_regression: bool = False,
) -> Job:
    found = job_checks.checked(
        actor, kind=kind, parameters=parameters, engagement=engagement, model=model, node=node,
        nodes=nodes, restarts=restarts, runtime=runtime, known_of_node=known_of_node)
    preflight = found.require_passed()
    declaration, values, several, targets = found.kind, found.values, found.several, found.targets
    engagement, inputs, environments = found.engagement, found.inputs, found.environments
    node = None if several else targets[0]
    on_node = declaration.runs_on_node and not several
    job = Job.objects.create(
        kind=kind, engagement=engagement, model=model,
        stage=stage or next(iter(declaration.stages), ""), node=node if on_node else None,
        parameters=values, nodes_wanted=len(targets),
        login=NodeLogin.objects.of_new_jobs(node, engagement) if on_node else None,
        command=declaration.argv(values) if on_node else [],
        runtime=(declaration.runtime(values) or environments[0].as_json()) if on_node else {},
        cards_wanted=declaration.cards_for(values), created_by=actor,
        is_practice=inputs.is_practice or (
            declaration.runs_on_node and any(n and n.is_practice for n in targets)),
        timeout_seconds=declaration.time_limit(values), priority=priority,
        next_step_at=timezone.now(), results={"preflight": preflight}, retry_of=retry_of,
        attempt=retry_of.attempt + 1 if retry_of else 1,
        is_regression=retry_of.is_regression if retry_of else is_regression,
    )
    if job.is_practice and engagement:
        mark_practice(engagement=engagement)
    inputs.keep(declaration, job)
    job_files.store_outputs(job, declaration.stored_files(values))
    if several:
        gang = _add_members(job, several, restarts, engagement, environments)
        inputs.keep_for_members(gang.present())
    audit_log.record(actor=actor, action="job.queue", target=job, engagement=engagement,
                     data={"parameters": values})
    return job


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
def cancel_job(*, actor: User, job: Job) -> Job:
    """Ask for the end of a job; the cards stay leased until nothing of it runs."""
    job = _locked_for(actor, job, JobMove.CANCEL)
    if job.cancel_requested_at is None:
        job.cancel_requested_at = job.next_step_at = timezone.now()
        job.save(update_fields=["cancel_requested_at", "next_step_at"])
        audit_log.record(actor=actor, action=TRANSITIONS[JobMove.CANCEL].audit.code, target=job,
                         engagement=job.engagement)
        enqueueing.advance_on_commit(job.pk)
    return job


@retried
@transaction.atomic
def retry_job(*, actor: User, job: Job) -> Job:
    """A new attempt with the same parameters, linked to the old one."""
    job = _locked_for(actor, job, JobMove.RETRY)
    new = _queue_not_enqueued(actor, job.kind, job.parameters, job.engagement, job.model, job.stage,
                              job.node, job.priority, retry_of=job, runtime=runtimes.own_of(job),
                              **_order_of_members(job))
    _wake(new)
    return new


def _order_of_members(job: Job) -> dict:
    """The arguments with which the job is queued again: its nodes and restarts."""
    if job.nodes_wanted == 1:
        return {}
    members = job.own_gang.present()
    return {"nodes": [member.node for member in members],
            "restarts": job.own_gang.restarts_allowed}


def _locked_for(actor: User, job: Job, move: str) -> Job:
    job = Job.objects.select_for_update(of=("self",), no_key=True).get(pk=job.pk)
    require_move(actor, TRANSITIONS, job, move)
    return job
