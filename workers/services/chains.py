"""Chains of jobs: saved, started for models, carried on by each job that succeeds."""

import operator

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import override

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.conflict_retry import retried
from engagements.errors import DeskError, InvalidInput, WrongState
from engagements.models import MigratedModel, User
from engagements.text.text_joining import listed
from toolreaders.masking import mask_tree
from workers import kinds
from workers.jobs import chain_places, shipped_chains
from workers.jobs.form_defaults import defaults_for
from workers.models import ChainRun, ChainStep, Job, JobChain, JobState, Node, Runtime
from workers.models.chain import CANCELLED, COMPLETE, NOT_QUEUED, UNMET
from workers.models.job import FINAL_STATES
from workers.services import job_checks, jobs

TESTS = {"is": operator.eq, "is_not": operator.ne, "above": operator.gt, "below": operator.lt}
MOST_STEPS = 20
FAILED_STATES = FINAL_STATES - {JobState.SUCCEEDED}


@transaction.atomic
def save_chain(
    *, actor: User, name: str, steps: list[dict], description: str = "",
    chain: JobChain | None = None,
) -> JobChain:
    """A new chain, or new steps of an existing one; runs under way keep theirs.

    Raises InvalidInput naming the step whose kind, parameter or condition is wrong.
    """
    require(actor, Can.WORK)
    if not name.strip() or not 1 <= len(steps) <= MOST_STEPS:
        raise InvalidInput(_("A chain has a name and 1 to %(most)d steps.") % {"most": MOST_STEPS})
    if JobChain.objects.filter(name=name.strip()).exclude(pk=chain and chain.pk).exists():
        raise InvalidInput(_("There is already a chain “%(name)s”.") % {"name": name})
    chain = chain or JobChain(created_by=actor)
    chain.name, chain.description, chain.steps = name.strip(), description, checked(steps)
    chain.save()
    audit_log.record(actor=actor, action="chain.save", target=chain,
                     data={"steps": mask_tree(chain.steps)})
    return chain


def checked(steps: list[dict]) -> list[dict]:
    """The steps with nothing but their parts. Raises InvalidInput with the step's number."""
    names = chain_places.named(steps)
    return [_checked(number, step, names) for number, step in enumerate(steps, 1)]


def _checked(number: int, step: dict, names: list[str]) -> dict:
    try:
        kind = kinds.get(str(step.get("kind")))
        parameters = dict(step.get("parameters") or {})
        kind.clean(chain_places.example_values(kind.code, parameters, names[:number - 1]))
        condition = _condition(step.get("condition") if number > 1 else None)
        runtime = _runtime(step)
        job_checks.require_usable_runtime(runtime, kind)
    except (InvalidInput, TypeError, ValueError) as error:
        raise InvalidInput(_("Step %(number)d: %(why)s") % {"number": number, "why": error}
                           ) from error
    return {"kind": kind.code, "name": names[number - 1], "parameters": parameters,
            "condition": condition,
            **({"runtime": runtime.pk} if runtime else {})}


def _runtime(step: dict) -> Runtime | None:
    """The runtime that the step names. Raises InvalidInput where there is none of that key."""
    if not (key := step.get("runtime")):
        return None
    if found := Runtime.objects.filter(pk=int(key)).first():
        return found
    raise InvalidInput(_("There is no runtime %(key)s.") % {"key": key})


def _condition(condition: dict | None) -> dict | None:
    if not condition:
        return None
    if condition.get("test") not in TESTS or not condition.get("result"):
        raise InvalidInput(_("A condition names a result, a test (%(tests)s) and a value.")
                           % {"tests": ", ".join(TESTS)})
    return {name: condition.get(name) for name in ("result", "test", "value")}


@transaction.atomic
def start_chain(
    *, actor: User, chain: JobChain, models: list[MigratedModel], node: Node,
    given: dict[str, str] | None = None,
) -> list[ChainRun]:
    """One run per model, each with its first job queued: all of them or none.

    Args:
        given: what the places `{given.…}` of its steps are filled with.
    Raises NotAllowed, InvalidInput, and WrongState for a node that is not ready.
    """
    if not models:
        raise InvalidInput(_("Choose at least one model."))
    asked, given = chain_places.given_in(chain.steps), given or {}
    if missing := [name for name in asked if not str(given.get(name) or "").strip()]:
        raise InvalidInput(_("To start this chain, give: %(names)s.") % {
            "names": listed(shipped_chains.given_label(name) for name in missing)})
    given = {name: str(given[name]).strip() for name in asked}
    runs = []
    for model in models:
        require(actor, Can.WORK, model.engagement)
        _require_startable(actor, chain.steps, model, node, given)
        run = ChainRun.objects.create(chain=chain, model=model, node=node, steps=chain.steps,
                                      given=given, started_by=actor, agent=actor.agent)
        _queue(run, 0)
        audit_log.record(actor=actor, action="chain.start", target=run, engagement=model.engagement,
                         data={"chain": chain.name, "steps": mask_tree(run.steps),
                               "given": mask_tree(given)})
        runs.append(run)
    return runs


def _require_startable(actor: User, steps: list[dict], model: MigratedModel, node: Node,
                       given: dict[str, str]) -> None:
    """Checks of every step what is known before the first is queued: what a later step would refuse
    shall not be found out when cards have run for hours. Raises InvalidInput with the step's
    number, NotAllowed, WrongState."""
    known = chain_places.Known(model.code, given)
    for number, step in enumerate(steps, 1):
        kind = kinds.get(step["kind"])
        values, later = chain_places.known_values(kind.code, step["parameters"], known)
        try:
            job_checks.require_known(
                actor, later, kind=kind.code, model=model, runtime=_runtime(step),
                parameters={**defaults_for(kind, model), **values},
                node=node if kind.runs_on_node else None)
        except DeskError as error:
            raise type(error)(_("Step %(number)d: %(why)s")
                              % {"number": number, "why": error.message}) from error


@transaction.atomic
def start_shipped(
    *, actor: User, code: str, models: list[MigratedModel], node: Node,
    given: dict[str, str] | None = None,
) -> list[ChainRun]:
    """Start a chain that comes with the product; its row is made or brought up to date first.

    Raises what `start_chain` raises, and InvalidInput for a code that is none.
    """
    require(actor, Can.WORK)
    shipped = shipped_chains.BY_CODE.get(code)
    if shipped is None:
        raise InvalidInput(_("No chain “%(code)s” comes with the product.") % {"code": code})
    with override("en"):  # its titles are shown by its code; the row needs one name
        named = f"{shipped.title} ({code})"[:80]
    steps = checked([dict(step) for step in shipped.steps])
    chain = JobChain.objects.filter(code=code).first() or JobChain(code=code, created_by=actor)
    if chain.pk is None or (chain.name, chain.steps) != (named, steps):
        chain.name, chain.steps = named, steps
        chain.save()
        audit_log.record(actor=actor, action="chain.save", target=chain,
                         data={"steps": mask_tree(steps)})
    return start_chain(actor=actor, chain=chain, models=models, node=node, given=given)


@transaction.atomic
def replay_run(*, actor: User, run: ChainRun, node: Node) -> ChainRun:
    """The steps of an earlier run from the first on, with what was given then, on another node:
    a regression run, which bears on no verdict. Writes an audit entry.

    Raises NotAllowed, and what queueing the first job raises.
    """
    require(actor, Can.WORK, run.model.engagement)
    _require_startable(actor, run.steps, run.model, node, run.given)
    new = ChainRun.objects.create(chain=run.chain, model=run.model, node=node, steps=run.steps,
                                  given=run.given, is_regression=True, started_by=actor,
                                  agent=actor.agent)
    _queue(new, 0)
    audit_log.record(actor=actor, action="chain.start", target=new,
                     engagement=run.model.engagement,
                     data={"chain": run.chain.name, "steps": mask_tree(new.steps),
                           "given": mask_tree(new.given), "replay_of": run.pk})
    return new


@transaction.atomic
def resume_run(*, actor: User, run: ChainRun) -> ChainRun:
    """Go on where the run stopped: its last job once more, or the step that was not queued.

    Raises NotAllowed, WrongState for a run that is at work or complete, and what queueing raises.
    """
    run = ChainRun.objects.select_for_update(of=("self",), no_key=True).select_related(
        "model__engagement", "node", "started_by").get(pk=run.pk)
    require(actor, Can.WORK, run.model.engagement)
    last = run.last_step
    if last.job.state in FAILED_STATES:
        jobs.retry_job(actor=actor, job=last.job)
    elif last.job.state == JobState.SUCCEEDED and last.position + 1 < len(run.steps):
        _queue(run, last.position + 1)
    else:
        raise WrongState(_("The chain is running or complete; there is nothing to resume."))
    run.finished_at, run.message, run.message_values = None, "", {}
    run.save(update_fields=["finished_at", "message", "message_values"])
    audit_log.record(actor=actor, action="chain.resume", target=run,
                     engagement=run.model.engagement, data={"step": last.position + 1})
    return run


@retried
@transaction.atomic
def cancel_run(*, actor: User, run: ChainRun) -> ChainRun:
    """End the run: its job at work is cancelled, no further step is queued.

    Raises NotAllowed, WrongState for a run that has ended.
    """
    run = ChainRun.objects.select_for_update(of=("self",), no_key=True).select_related(
        "model__engagement").get(pk=run.pk)
    require(actor, Can.WORK, run.model.engagement)
    if not run.may_be_cancelled:
        raise WrongState(_("The chain has ended; there is nothing to cancel."))
    last = run.last_step
    if not last.job.is_final:
        jobs.cancel_job(actor=actor, job=last.job)
    _finish(run, CANCELLED, actor, n=last.position + 1, all=len(run.steps))
    return run


def _queue(run: ChainRun, position: int) -> ChainStep:
    step = run.steps[position]
    names = chain_places.named(run.steps)
    known = chain_places.Known(run.model.code, run.given, {
        names[each.position]: each.job for each in run.jobs.select_related("job__engagement")})
    kind = kinds.get(step["kind"])
    values = chain_places.filled_values(kind.code, step["parameters"], known)
    job = jobs.queue_job(
        actor=run.started_by, kind=kind.code, model=run.model,
        node=run.node if kind.runs_on_node else None,
        parameters={**defaults_for(kind, run.model), **values}, runtime=_runtime(step),
        is_regression=run.is_regression, agent=run.agent)
    return ChainStep.objects.create(run=run, position=position, job=job)


def go_on(job: Job) -> None:
    """Queue the step after this job, if it belongs to a chain. In the caller's transaction."""
    step = step_of(job)
    if step is None:
        return
    run = ChainRun.objects.select_for_update(of=("self",), no_key=True).select_related(
        "model__engagement", "node", "started_by", "agent").get(pk=step.run_id)
    following = step.position + 1
    if run.finished_at or run.jobs.filter(position=following).exists():
        return
    if step.job_id != job.pk:
        ChainStep.objects.filter(pk=step.pk).update(job=job)
    if following >= len(run.steps):
        _finish(run, COMPLETE, n=len(run.steps))
    elif not is_met(run.steps[following]["condition"], job.results):
        _finish(run, UNMET, n=following + 1)
    else:
        _try_to_queue(run, following)


def step_of(job: Job) -> ChainStep | None:
    """The step that the job, or an attempt before it, stands for."""
    attempt: Job | None = job
    while attempt is not None:
        step = ChainStep.objects.filter(job=attempt).first()
        if step is not None:
            return step
        attempt = attempt.retry_of
    return None


def _try_to_queue(run: ChainRun, position: int) -> None:
    """What keeps the next job from being queued ends the run, never the job before it."""
    try:
        with transaction.atomic():
            step = _queue(run, position)
    except DeskError as error:
        _finish(run, NOT_QUEUED, n=position + 1, why=error.message)
        return
    audit_log.record(actor=None, action="chain.step", target=run, engagement=run.model.engagement,
                     data={"step": position + 1, "job": step.job_id})


def _finish(run: ChainRun, message: str, actor: User | None = None, **values) -> None:
    run.finished_at, run.message, run.message_values = timezone.now(), message, values
    run.save(update_fields=["finished_at", "message", "message_values"])
    audit_log.record(actor=actor, action="chain.end", target=run, engagement=run.model.engagement,
                     data={"message": message, **values})


def is_met(condition: dict | None, results: dict) -> bool:
    """Whether the results satisfy the condition; a result that is missing never does.

    Numbers are compared as numbers, everything else as text.
    """
    if not condition:
        return True
    if condition["result"] not in results:
        return False
    found, wanted = results[condition["result"]], condition["value"]
    try:
        pair = float(found), float(wanted)
    except (TypeError, ValueError):
        if condition["test"] in ("above", "below"):
            return False
        pair = str(found), str(wanted)
    return TESTS[condition["test"]](*pair)
