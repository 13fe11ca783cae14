"""Rows that workers of an older version wrote while this one's tables were there already.

An upgrade migrates while older workers go on until they are restarted. What they write in between
lacks the columns that a migration has filled: the engagement of readings and comparisons.
"""

from django.db import transaction
from django.db.models import OuterRef, Subquery

from assessments.models import Comparison
from engagements.audit import audit_log
from workers.models import Artifact, StoredReading

AT_ONCE = 1000  # readings of a turn; the next finds the rest


def fill_engagements() -> None:
    """Give such rows the engagement of their artifact; an audit entry for each reading.

    Comparisons are derived from their files and not tracked by the audit log.
    """
    for reading in _incomplete(StoredReading).select_related("artifact")[:AT_ONCE]:
        _complete(reading=reading)
    theirs = Artifact.objects.filter(pk=OuterRef("artifact")).values("engagement")
    Comparison.objects.filter(pk__in=_incomplete(Comparison).values("pk")).update(
        engagement=Subquery(theirs))


def _incomplete(table):
    """Rows without the engagement that their artifact has."""
    return table.objects.filter(engagement=None, artifact__engagement__isnull=False).order_by("pk")


@transaction.atomic
def _complete(*, reading: StoredReading) -> None:
    reading.engagement_id = reading.artifact.engagement_id
    reading.save(update_fields=["engagement"])
    audit_log.record(actor=None, action="stored_reading.complete", target=reading,
                     engagement=reading.engagement)
