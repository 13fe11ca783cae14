from django.db import models

from delivery.documents.models import IssuedFile
from delivery.planning.models.change import ChangeRequest
from delivery.planning.models.control import WeeklyReport
from delivery.planning.models.issued import PlanningFile
from delivery.planning.models.plan import PlanBaseline
from delivery.planning.models.timesheet import Timesheet

EDITION = ["state", "as_of", "language", "format"]


class PlanBaselineFile(IssuedFile):
    """A workbook of the plan as it was agreed."""

    baseline = models.ForeignKey(PlanBaseline, models.CASCADE, related_name="files")

    class Meta(IssuedFile.Meta):
        constraints = [models.UniqueConstraint(
            fields=["baseline", "language", "format"],
            name="one_plan_baseline_file_per_language_and_format")]

    @property
    def download_name(self) -> str:
        return f"{self.baseline.file_name}-{self.language}.{self.ending}"


class WeeklyReportFile(PlanningFile):
    """A file of a frozen weekly report."""

    ROW = "report"
    report = models.ForeignKey(WeeklyReport, models.CASCADE, related_name="files")

    class Meta(PlanningFile.Meta):
        constraints = [models.UniqueConstraint(fields=["report", *EDITION],
                                               name="one_weekly_report_file_per_edition")]


class ChangeRequestFile(PlanningFile):
    """A file of a change order, from its submission on."""

    ROW = "change"
    change = models.ForeignKey(ChangeRequest, models.CASCADE, related_name="files")

    class Meta(PlanningFile.Meta):
        constraints = [models.UniqueConstraint(fields=["change", *EDITION],
                                               name="one_change_request_file_per_edition")]


class TimesheetFile(PlanningFile):
    """A file of a timesheet as it was put to the customer, and with the answer."""

    ROW = "timesheet"
    timesheet = models.ForeignKey(Timesheet, models.CASCADE, related_name="files")

    class Meta(PlanningFile.Meta):
        constraints = [models.UniqueConstraint(fields=["timesheet", *EDITION],
                                               name="one_timesheet_file_per_edition")]
