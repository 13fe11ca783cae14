"""Issued documents whose verdicts have turned since."""

from collections.abc import Collection

from django.db import models

from assessments.models import Verdict
from delivery.reports.models import Document
from engagements.audit import audit_log


def verdicts_written(_table: type[models.Model], keys: Collection) -> None:
    """Write an audit entry for each document in force that states another outcome than a verdict
    that was just computed; its readers hear of the entry. Once for each time the verdict turns."""
    for verdict in Verdict.objects.filter(pk__in=keys).select_related(
            "criterion__criteria_set__engagement"):
        criterion = verdict.criterion
        before = criterion.verdicts.filter(pk__lt=verdict.pk).first()
        if before is None or before.outcome == verdict.outcome:
            continue
        engagement = criterion.criteria_set.engagement
        for document in Document.objects.in_force().filter(engagement=engagement):
            stated = {row["criterion"]: row["outcome"]
                      for row in document.snapshot.get("metrics", [])}.get(criterion.pk)
            if stated and stated != verdict.outcome:
                audit_log.record(actor=None, action="document.overtaken", target=document,
                                 engagement=engagement, data={
                                     "criterion": str(criterion), "stated": stated,
                                     "now": verdict.outcome})
