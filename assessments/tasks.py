"""Celery tasks; each calls one service."""

from celery import shared_task

from assessments import services
from assessments.queries import unindexed
from workers.models import Artifact

AT_ONCE = 5


@shared_task(name="assessments.index_comparison")
def index_comparison(artifact_id: int) -> None:
    """Index the rows of one comparison; a second message changes nothing."""
    artifact = Artifact.objects.filter(pk=artifact_id).first()
    if artifact:
        services.index_comparison(artifact=artifact)


@shared_task(name="assessments.index_missing")
def index_missing() -> None:
    """Index what a lost message left out; found in the database, not in the queue."""
    for artifact in unindexed()[:AT_ONCE]:
        services.index_comparison(artifact=artifact)
