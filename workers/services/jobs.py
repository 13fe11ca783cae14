"""Queueing, cancelling and retrying jobs."""

from collections.abc import Sequence
from functools import cache

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.conflict_retry import retried
from engagements.errors import DeskError, InvalidInput, NotAllowed, WrongState
from engagements.models import Engagement, MigratedModel, User
from engagements.moves import require_move
from engagements.services import mark_practice
from engagements.text.text_joining import following, labelled
from workers import kinds
from workers.dispatch import enqueueing, job_files
from workers.dispatch.job_claims import due
from workers.jobs import preflight
from workers.jobs.form_defaults import defaults_for
from workers.jobs.transitions import TRANSITIONS, JobMove
from workers.models import Job, JobState, Node, Priority, Runtime
from workers.rules.facts import stored
from workers.runtimes import chosen
from workers.services import gangs, job_inputs, node_logins, runtimes


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
        nodes: several that run it together (`services.gangs`); the first is where ranks meet.
        restarts: how often all of them begin again after a failure.
        runtime: for this job; else that of its model, its engagement or its node.
        is_regression: repeats an accepted run; what it measures bears on no verdict.

    Raises InvalidInput naming the parameter or, in `parameters`, the sentences of blocking rules
    (DOMAIN 5); NotAllowed; WrongState for a node not ready. Warnings are kept with the job.
    """
    job = _queue_unwoken(actor, kind, parameters, engagement, model, stage, node, priority,
                         nodes=nodes, restarts=restarts, runtime=runtime,
                         is_regression=is_regression)
    _wake(job)
    return job


def _queue_unwoken(
    actor: User, kind: str, parameters: dict | None = None, engagement: Engagement | None = None,
    model: MigratedModel | None = None, stage: str = "", node: Node | None = None,
    priority: int = Priority.NORMAL, known_of_node=stored.of_node, retry_of: Job | None = None,
    nodes: Sequence[Node] = (), restarts: int = 0, runtime: Runtime | None = None,
    is_regression: bool = False,
) -> Job:
    declaration = kinds.get(kind)
    engagement = model.engagement if model else engagement
    several = gangs.in_order(node, nodes)
    every = several or [*nodes, node][:1]
    node = None if several else every[0]
    if model and model.dropped_at:
        raise WrongState(_("%(model)s was dropped from the project; nothing runs for it any more.")
                         % {"model": model})
    for each in every:
        _require_for_job(actor, declaration, engagement, each)
    values = declaration.clean(gangs.stated(declaration, parameters or {}, several, restarts))
    if restarts:
        declaration.require_restartable(values)
    declaration.require_place(values, engagement)
    for each in every if declaration.runs_on_node else ():
        declaration.require_permitted(values, actor, each)
    inputs = job_inputs.found_in(user=actor, kind=declaration, values=values,
                                 engagement=engagement)
    on_node = declaration.runs_on_node and not several
    runtimes.require_usable(runtime, declaration)
    ways = [chosen.for_job(each, engagement, model, runtime) if each else chosen.Chosen()
            for each in every]
    for each, way in zip(every, ways, strict=True) if declaration.runs_on_node else ():
        runtimes.require_possible(each, way)
    checked, *_others = [preflight.require_runnable(
        declaration, values, each, model, known_of_node, way, len(every))
        for each, way in zip(every, ways, strict=True)]
    job = Job.objects.create(
        kind=kind, engagement=engagement, model=model, stage=stage or _stage_of(declaration),
        node=node if on_node else None, parameters=values, nodes_wanted=len(every),
        login=node_logins.login_of(node, engagement) if on_node else None,
        command=declaration.argv(values) if on_node else [],
        runtime=(declaration.runtime(values) or ways[0].kept()) if on_node else {},
        cards_wanted=declaration.cards_for(values), created_by=actor,
        is_practice=inputs.is_practice or (
            declaration.runs_on_node and any(n and n.is_practice for n in every)),
        timeout_seconds=declaration.time_limit(values), priority=priority,
        next_step_at=timezone.now(), results={"preflight": checked}, retry_of=retry_of,
        attempt=retry_of.attempt + 1 if retry_of else 1,
        is_regression=retry_of.is_regression if retry_of else is_regression,
    )
    if job.is_practice and engagement:
        mark_practice(engagement=engagement)
    inputs.keep(declaration, job)
    job_files.store_outputs(job, declaration.kept_files(values))
    if several:
        gang = gangs.add_members(job, several, restarts, engagement, ways)
        inputs.keep_for_members(gang.present())
    audit_log.record(actor=actor, action="job.queue", target=job, engagement=engagement,
                     data={"parameters": values})
    return job


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
                jobs.append(_queue_unwoken(actor, **order, known_of_node=known))
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
    declaration, (first, *_others) = kinds.get(kind), models
    known = defaults_for(declaration, first)
    orders = [{"kind": kind, "model": model, **order, "parameters": _own_values(
        parameters or {}, known, defaults_for(declaration, model))} for model in models]
    try:
        return queue_jobs(actor=actor, orders=orders)
    except InvalidInput as error:
        raise InvalidInput(following(error.message, *(
            labelled(models[position].code, refusal["detail"])
            for position, refusal in error.details["jobs"].items()))) from error


def _own_values(values: dict, known: dict, own: dict) -> dict:
    return {name: own[name] if name in own and value == known.get(name) else value
            for name, value in values.items()}


def _wake(job: Job) -> None:
    """Wake somebody for the job; one that waits on the same node has somebody on the way."""
    if job.node_id is None:
        enqueueing.advance_on_commit(job.pk)
    elif not due(timezone.now()).filter(
            node=job.node_id, state=JobState.QUEUED).exclude(pk=job.pk).exists():
        enqueueing.poll_on_commit([job.node_id])


def _require_for_job(actor, declaration, engagement, node) -> None:
    if engagement:
        require(actor, Can.WORK, engagement)
    else:
        require(actor, Can.OPERATE)
    if declaration.needs_model and engagement is None:
        raise InvalidInput(_("This kind of job belongs to an engagement; choose one."))
    if declaration.runs_on_node and node is None:
        raise InvalidInput(_("Choose the node on which the job is to run."))
    if declaration.runs_on_node and node.state != Node.State.READY:
        raise WrongState(_("The node %(name)s is “%(state)s”.")
                         % {"name": node.name, "state": node.get_state_display()})


def _stage_of(declaration) -> str:
    return declaration.stages[0] if declaration.stages else ""


@retried
@transaction.atomic
def cancel_job(*, actor: User, job: Job) -> Job:
    """Ask for the end of a job; the cards stay leased until nothing of it runs."""
    job = _locked_for(actor, job, JobMove.CANCEL)
    if job.cancel_requested_at is None:
        job.cancel_requested_at = job.next_step_at = timezone.now()
        job.save(update_fields=["cancel_requested_at", "next_step_at"])
        audit_log.record(actor=actor, action="job.cancel", target=job, engagement=job.engagement)
        enqueueing.advance_on_commit(job.pk)
    return job


@retried
@transaction.atomic
def retry_job(*, actor: User, job: Job) -> Job:
    """A new attempt with the same parameters, linked to the old one."""
    job = _locked_for(actor, job, JobMove.RETRY)
    new = _queue_unwoken(actor, job.kind, job.parameters, job.engagement, job.model, job.stage,
                         job.node, job.priority, retry_of=job, runtime=runtimes.own_of(job),
                         **gangs.order_of(job))
    _wake(new)
    return new


def _locked_for(actor: User, job: Job, move: str) -> Job:
    job = Job.objects.select_for_update(of=("self",), no_key=True).get(pk=job.pk)
    require_move(actor, TRANSITIONS, job, move)
    return job
