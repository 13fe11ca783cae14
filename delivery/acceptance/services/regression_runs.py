"""Accepted runs are repeated on a node with other software, to see what moves."""

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from assessments.queries import current_criteria, verdicts_of
from delivery.acceptance.certificates import Standing, certificate_in_force, standing_of
from delivery.acceptance.models import RegressionJob, RegressionRun
from engagements.access import Can, require
from engagements.audit import audit_log
from engagements.errors import InvalidInput, WrongState
from engagements.models import Engagement, MigratedModel, User
from workers.models import ChainRun, Job, Node
from workers.services.chains import replay_run, step_of
from workers.services.jobs import queue_job

ACCEPTED = (Standing.ACCEPTED, Standing.CONDITIONAL)


@transaction.atomic
def start_regression(*, actor: User, model: MigratedModel, node: Node, release: str
                     ) -> RegressionRun:
    """Repeat each job that an accepted figure of the model rests on, on `node`.

    A job that a chain queued is repeated with its whole chain, from the first step on: what the
    chain converts or builds is made with the new software too. Any other job is queued with its
    kind and parameters. What the repeats measure is compared and bears on no verdict. Writes an
    audit entry.

    Args:
        release: what is new on the node, such as “CANN 8.2.RC1”.
    Raises WrongState for a model that is not accepted, InvalidInput where no accepted figure came
    from a job on one node, and what `queue_job` raises.
    """
    require(actor, Can.WORK, model.engagement)
    engagement = Engagement.objects.select_for_update(
        of=("self",), no_key=True).get(pk=model.engagement_id)
    if standing_of(certificate_in_force(engagement), model.code) not in ACCEPTED:
        raise WrongState(_("%(model)s has no concluded final acceptance to compare with.")
                         % {"model": model})
    if not release.strip():
        raise InvalidInput(_("Say what is new on the node, for example the release of CANN."))
    jobs = accepted_jobs(model)
    if not jobs:
        raise InvalidInput(_("No accepted figure of %(model)s came from a job on one node, so "
                             "there is nothing to repeat.") % {"model": model})
    run = RegressionRun.objects.create(
        engagement=engagement, model=model, node=node, release=release.strip()[:120],
        number=(engagement.regression_runs.aggregate(n=Max("number"))["n"] or 0) + 1,
        started_by=actor)
    _repeat(actor, run, jobs)
    audit_log.record(actor=actor, action="regression.start", target=run, engagement=engagement,
                     data={"release": run.release, "jobs": [job.pk for job in jobs]})
    return run


def _repeat(actor: User, run: RegressionRun, jobs: list[Job]) -> None:
    """Queue the jobs, or the first steps of their chains, each chain once."""
    replayed: dict[int, ChainRun] = {}
    for job in jobs:
        step = step_of(job)
        if step is None:
            RegressionJob.objects.create(run=run, accepted=job, repeated=queue_job(
                actor=actor, kind=job.kind, parameters=job.parameters, model=run.model,
                stage=job.stage, node=run.node, is_regression=True))
            continue
        if step.run_id not in replayed:
            replayed[step.run_id] = replay_run(actor=actor, run=step.run, node=run.node)
        RegressionJob.objects.create(run=run, accepted=job, position=step.position,
                                     chain_run=replayed[step.run_id])


def accepted_jobs(model: MigratedModel) -> list[Job]:
    """The jobs on one node that the verdicts in force rest on, each once, in order."""
    criteria = current_criteria(model.engagement)
    found = {verdict.measurement.job.pk: verdict.measurement.job
             for _criterion, verdict in (verdicts_of(criteria, model) if criteria else [])
             if verdict and verdict.measurement and verdict.measurement.job}
    return [job for _pk, job in sorted(found.items()) if job.nodes_wanted == 1 and job.node]
