"""Chains of jobs: saved, started for models, carried on by each job that succeeds."""

import operator

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import DeskError, InvalidInput
from engagements.models import MigratedModel, User
from workers import kinds
from workers.models import ChainRun, ChainStep, Job, JobChain, Node, Runtime
from workers.services import jobs, runtimes

TESTS = {"is": operator.eq, "is_not": operator.ne, "above": operator.gt, "below": operator.lt}
MOST_STEPS = 20


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
    chain.name, chain.description = name.strip(), description
    chain.steps = [_checked(number, step) for number, step in enumerate(steps, 1)]
    chain.save()
    audit_log.record(actor=actor, action="chain.save", target=chain, data={"steps": chain.steps})
    return chain


def _checked(number: int, step: dict) -> dict:
    """The step with nothing but its parts. Raises InvalidInput with the step's number."""
    try:
        kind = kinds.get(str(step.get("kind")))
        parameters = dict(step.get("parameters") or {})
        kind.clean(_for_model(parameters, "MODEL"))
        condition = _condition(step.get("condition") if number > 1 else None)
        runtime = _runtime(step)
        runtimes.require_usable(runtime, kind)
    except (InvalidInput, TypeError, ValueError) as error:
        raise InvalidInput(_("Step %(number)d: %(why)s") % {"number": number, "why": error}
                           ) from error
    return {"kind": kind.code, "parameters": parameters, "condition": condition,
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


def _for_model(parameters: dict, code: str) -> dict:
    """The parameters with the model's code in place of {model}."""
    return {name: _filled(value, code) for name, value in parameters.items()}


def _filled(value, code: str):
    if isinstance(value, list):
        return [_filled(each, code) for each in value]
    return value.replace("{model}", code) if isinstance(value, str) else value


@transaction.atomic
def start_chain(
    *, actor: User, chain: JobChain, models: list[MigratedModel], node: Node,
) -> list[ChainRun]:
    """One run per model, each with its first job queued: all of them or none.

    Raises NotAllowed, InvalidInput, and WrongState for a node that is not ready.
    """
    if not models:
        raise InvalidInput(_("Choose at least one model."))
    runs = []
    for model in models:
        require(actor, Can.WORK, model.engagement)
        run = ChainRun.objects.create(chain=chain, model=model, node=node, steps=chain.steps,
                                      started_by=actor)
        _queue(run, 0)
        audit_log.record(actor=actor, action="chain.start", target=run, engagement=model.engagement,
                         data={"chain": chain.name, "steps": run.steps})
        runs.append(run)
    return runs


def _queue(run: ChainRun, position: int) -> ChainStep:
    step = run.steps[position]
    job = jobs.queue_job(
        actor=run.started_by, kind=step["kind"], model=run.model, node=run.node,
        parameters=_for_model(step["parameters"], run.model.code), runtime=_runtime(step))
    return ChainStep.objects.create(run=run, position=position, job=job)


def go_on(job: Job) -> None:
    """Queue the step after this job, if it belongs to a chain. In the caller's transaction."""
    step = _step_of(job)
    if step is None:
        return
    run = ChainRun.objects.select_for_update(of=("self",), no_key=True).select_related(
        "model__engagement", "node", "started_by").get(pk=step.run_id)
    following = step.position + 1
    if run.finished_at or run.jobs.filter(position=following).exists():
        return
    if step.job_id != job.pk:
        ChainStep.objects.filter(pk=step.pk).update(job=job)
    if following >= len(run.steps):
        _finish(run, gettext_noop("All %(n)d steps succeeded."), n=len(run.steps))
    elif not is_met(run.steps[following]["condition"], job.results):
        _finish(run, gettext_noop("Step %(n)d was not started: its condition is not met."),
                n=following + 1)
    else:
        _try_to_queue(run, following)


def _step_of(job: Job) -> ChainStep | None:
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
        _finish(run, gettext_noop("Step %(n)d could not be queued: %(why)s"), n=position + 1,
                why=error.message)
        return
    audit_log.record(actor=None, action="chain.step", target=run, engagement=run.model.engagement,
                     data={"step": position + 1, "job": step.job_id})


def _finish(run: ChainRun, message: str, **values) -> None:
    run.finished_at, run.message, run.message_values = timezone.now(), message, values
    run.save(update_fields=["finished_at", "message", "message_values"])
    audit_log.record(actor=None, action="chain.end", target=run, engagement=run.model.engagement,
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
