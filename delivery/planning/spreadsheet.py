"""The plan as xlsx."""

import io

from django.utils.translation import gettext as _
from openpyxl import Workbook
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.worksheet.worksheet import Worksheet

from delivery.planning.models import Dependency, Plan
from delivery.planning.scheduling import Scheduled, schedule
from delivery.quotes.spreadsheet import safe_text

WIDTHS = (6, 36, 12, 14, 8, 12, 12, 12, 12, 8, 10, 12, 12, 8, 30)


def plan_xlsx(plan: Plan) -> bytes:
    """Tasks with dates, slack and baseline on one sheet, milestones on the other."""
    book = Workbook()
    rows = schedule(plan)
    _tasks(book.active, plan, rows)
    _milestones(book.create_sheet(), plan, {row.task.pk: row for row in rows})
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


def _tasks(sheet: Worksheet, plan: Plan, rows: list[Scheduled]) -> None:
    sheet.title = _("Plan")
    _head(sheet, ["#", _("Task"), _("Model"), _("Owner"), _("Days"), _("Start"), _("Finish"),
                  _("Latest start"), _("Latest finish"), _("Slack"), _("Critical"),
                  _("Baseline start"), _("Baseline finish"), _("Slip (days)"), _("Predecessors")])
    numbers = {row.task.pk: n for n, row in enumerate(rows, 1)}
    after: dict[int, list[str]] = {}
    for link in Dependency.objects.filter(after__plan=plan):
        text = f"{numbers[link.before_id]}FS" + (f"+{link.lag}" if link.lag else "")
        after.setdefault(link.after_id, []).append(text)
    for n, row in enumerate(rows, 1):
        task = row.task
        sheet.append([
            n, safe_text(str(task)), safe_text(task.model.code) if task.model else "",
            safe_text(str(task.owner)) if task.owner else "", task.days, row.start, row.finish,
            row.late_start, row.late_finish, row.dates.slack,
            _("yes") if row.is_critical else "", row.baseline_start, row.baseline_finish,
            row.slip if row.baseline_finish else None, ", ".join(after.get(task.pk, []))])
    _finish(sheet)


def _milestones(sheet: Worksheet, plan: Plan, rows: dict[int, Scheduled]) -> None:
    sheet.title = _("Milestones")
    _head(sheet, ["#", _("Milestone"), _("Payment (%)"), _("Trigger document"), _("Date")])
    for n, milestone in enumerate(plan.milestones.all(), 1):
        row = rows.get(milestone.task_id)
        sheet.append([n, safe_text(milestone.local_name), milestone.percent,
                      milestone.get_trigger_display(), row.finish if row else None])
    _finish(sheet)


def _head(sheet: Worksheet, titles: list[str]) -> None:
    sheet.append(titles)
    for cell in sheet[1]:
        cell.font, cell.fill = Font(bold=True), PatternFill("solid", fgColor="EEF3FB")
        cell.alignment = Alignment(wrap_text=True, vertical="center")
    sheet.freeze_panes = "C2"


def _finish(sheet: Worksheet) -> None:
    for column, width in zip(sheet.columns, WIDTHS, strict=False):
        sheet.column_dimensions[column[0].column_letter].width = width
        for cell in column[1:]:
            if cell.is_date:
                cell.number_format = "yyyy-mm-dd"
    sheet.page_setup.orientation, sheet.page_setup.paperSize = "landscape", 9
    sheet.page_setup.fitToHeight = 0
    sheet.sheet_properties.pageSetUpPr.fitToPage = True
    sheet.print_title_rows = "1:1"
