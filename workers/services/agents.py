"""The end of agents with that of their jobs."""

from django.db import transaction

from engagements.conflict_retry import retried
from engagements.models import Agent, User
from engagements.services.agents import end_agent
from workers.models import ChainRun, Job
from workers.services.chains import cancel_run
from workers.services.jobs import cancel_job


@retried
@transaction.atomic
def stop_agent(*, actor: User, agent: Agent) -> Agent:
    """End an agent, its keys, and what it has under way: chains queue no further step, jobs are
    cancelled. By its owner or a manager. Safe to repeat."""
    agent = end_agent(actor=actor, agent=agent)
    for run in ChainRun.objects.filter(agent=agent, finished_at=None):
        cancel_run(actor=actor, run=run)
    for job in Job.objects.filter(agent=agent, cancel_requested_at=None).whole().in_flight():
        cancel_job(actor=actor, job=job)
    return agent
