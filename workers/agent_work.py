"""Where agents of an engagement worked: they are shown where people are."""

from django.db.models import Exists, OuterRef, Q, QuerySet

from engagements.models import Agent, Engagement, StageComment, StageTransition
from workers.models import Artifact, Job

# What an agent does in a stage of a model, and where a row says of which.
IN_STAGES = ((Job, "model", "stage"), (StageTransition, "record__model", "record__stage"),
             (StageComment, "record__model", "record__stage"))


def agents_at_work(engagement: Engagement) -> QuerySet[Agent]:
    """Those that ran a job, stored a file, moved a stage or commented on one, the oldest first."""
    did = Q()
    for table in (Job, Artifact, StageTransition, StageComment):
        did |= Q(Exists(table.objects.filter(agent=OuterRef("pk"))))
    return Agent.objects.filter(did, engagement=engagement).select_related("owner").order_by("pk")


def agents_by_cell(engagement: Engagement) -> dict[tuple[int, str], list[Agent]]:
    """{(model, stage): the agents that ran jobs, moved it or commented there}"""
    known = Agent.objects.filter(engagement=engagement).select_related("owner").in_bulk()
    found: dict[tuple[int, str], list[Agent]] = {}
    for table, model, stage in IN_STAGES if known else ():
        for of_model, of_stage, pk in table.objects.filter(agent__in=known).order_by().values_list(
                model, stage, "agent").distinct():
            here = found.setdefault((of_model, of_stage), [])
            if known[pk] not in here:
                here.append(known[pk])
    return found
