"""What else was issued in the engagement: files of quotes and of the planning documents."""

from delivery.planning.models import ChangeRequestFile, PlanBaselineFile, TimesheetFile
from delivery.quotes.models import QuoteFile
from delivery.reports.models import Document

SOURCES = ((QuoteFile, "quote"), (ChangeRequestFile, "change"), (TimesheetFile, "timesheet"),
           (PlanBaselineFile, "baseline__plan"))


def issued_files(document: Document) -> list[dict]:
    """Name, size and checksum of each file that was stored when the document was issued.

    Weekly reports are not among them: they are the firm's own.
    """
    rows = []
    for table, owner in SOURCES:
        rows += table.objects.filter(**{
            f"{owner}__engagement": document.engagement_id,
            "created_at__lte": document.issued_at}).select_related(f"{owner}__engagement")
    return sorted(({"name": row.download_name, "size": row.size, "sha256": row.sha256}
                   for row in rows), key=lambda row: (row["name"], row["sha256"]))
