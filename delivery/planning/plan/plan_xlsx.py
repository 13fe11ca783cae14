"""The plan as xlsx."""

import io
from collections import defaultdict
from datetime import date
from operator import itemgetter

from django.utils import timezone
from django.utils.translation import get_language, override
from django.utils.translation import gettext as _
from openpyxl import Workbook
from openpyxl.worksheet.worksheet import Worksheet

from delivery.documents import bilingual
from delivery.documents.banners import working_copy
from delivery.documents.branding.theme import page_headers, theme_for
from delivery.documents.office.deterministic_zip import deterministic_zip
from delivery.documents.office.workbook_styles import (
    height,
    named_styles,
    print_setup,
    safe_text,
    span,
    title_row,
)
from delivery.planning.models import Dependency, Plan, PlanBaseline
from delivery.planning.plan.task_dates import Scheduled, end_of, schedule, working_days_of
from delivery.planning.plan.working_days import firm_days, provisional_years
from engagements.models import Engagement
from engagements.text.text_joining import bracketed, listed

HEAD_ROW = 3
NUMBER, TEXT, DATE, COUNT, MARK = (
    "desk_centre", "desk_text", "desk_date", "desk_count", "desk_mark")
Column = tuple[str, str, float]  # its title, the style of its cells, its width
Sheet = tuple[str, list[Column], list[list]]  # its title, its columns, the rows of its table


def plan_xlsx(plan: Plan) -> bytes:
    """Tasks with dates, slack and baseline on one sheet, milestones on the other."""
    rows = schedule(plan)
    dates = (f"{rows[0].start} – {end_of(rows)} · {working_days_of(rows)} {_('working days')}"
             + _provisional(rows) if rows else "")
    return _workbook(
        plan.engagement, theme_for(plan.engagement.customer),
        [_task_sheet(plan, rows), _milestone_sheet(plan, rows)],
        subtitle=dates, foot=working_copy())


def _provisional(rows: list[Scheduled]) -> str:
    """The years whose holidays may still move, behind the dates; nothing where there is none."""
    years = provisional_years(rows[0].start, end_of(rows), firm_days())
    return bracketed(_("provisional holidays: %(years)s") % {
        "years": listed(years)}) if years else ""


def baseline_xlsx(baseline: PlanBaseline, language: str) -> bytes:
    """The plan as it was agreed: the dates of each task, the earliest first.

    Titles stand as they were written down, in one language.
    """
    engagement, day = baseline.engagement, f"{timezone.localdate(baseline.taken_at)}"
    rows = sorted(baseline.tasks.values(), key=itemgetter("start", "finish", "title"))
    with override(language):
        subtitle = f"{_('Baseline')} V{baseline.version} · {day}"
        columns = [("#", NUMBER, 5), (_("Task"), TEXT, 60), (_("Start"), DATE, 14),
                   (_("Finish"), DATE, 14)]
        cells = [[n, safe_text(row["title"]), date.fromisoformat(row["start"]),
                  date.fromisoformat(row["finish"])] for n, row in enumerate(rows, 1)]
        data = _workbook(engagement, theme_for(engagement.customer, baseline.taken_at),
                         [(_("Plan"), columns, cells)], subtitle=subtitle, foot=subtitle)
    return deterministic_zip(data, day)


def _workbook(engagement: Engagement, theme: dict, sheets: list[Sheet], *, subtitle: str,
              foot: str) -> bytes:
    """These sheets, in the active language.

    Args:
        subtitle: below the title of each sheet, after the customer.
        foot: at the foot of each page, after the project code.
    """
    book, shown = Workbook(), bilingual.in_language(theme, get_language())
    book.remove(book.active)
    for style in named_styles(shown):
        book.add_named_style(style)
    for title, columns, cells in sheets:
        sheet = book.create_sheet(title)
        _head(sheet, engagement, len(columns), subtitle)
        _table(sheet, columns, cells)
        print_setup(sheet, tuple(width for *_rest, width in columns), HEAD_ROW,
                    f"{engagement.code} · {foot}", page_headers(shown, title))
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


def _task_sheet(plan: Plan, rows: list[Scheduled]) -> Sheet:
    columns = [
        ("#", NUMBER, 5), (_("Task"), TEXT, 34), (_("Model"), TEXT, 10), (_("Owner"), TEXT, 14),
        (_("Days"), COUNT, 8), (_("Start"), DATE, 12), (_("Finish"), DATE, 12),
        (_("Latest start"), DATE, 12), (_("Latest finish"), DATE, 12), (_("Slack"), COUNT, 8),
        (_("Critical"), MARK, 9), (_("Baseline start"), DATE, 12),
        (_("Baseline finish"), DATE, 12), (_("Slip (days)"), COUNT, 9),
        (_("Predecessors"), TEXT, 18)]
    after = _predecessors(plan, rows)
    cells = [[
        n, safe_text(str(row.task)), safe_text(row.task.model.code) if row.task.model else "",
        safe_text(str(row.task.owner)) if row.task.owner else "", row.task.days, row.start,
        row.finish, row.late_start, row.late_finish, row.dates.slack,
        _("yes") if row.is_critical else "", row.baseline_start, row.baseline_finish,
        row.slip if row.baseline_finish else None, ", ".join(after[row.task.pk])]
        for n, row in enumerate(rows, 1)]
    return _("Plan"), columns, cells


def _predecessors(plan: Plan, rows: list[Scheduled]) -> dict[int, list[str]]:
    """By task: numbers of the tasks it follows, as project planners write them (3FS+2)."""
    numbers, found = {row.task.pk: n for n, row in enumerate(rows, 1)}, defaultdict(list)
    for link in Dependency.objects.filter(after__plan=plan):
        found[link.after_id].append(
            f"{numbers[link.before_id]}FS" + (f"+{link.lag}" if link.lag else ""))
    return found


def _milestone_sheet(plan: Plan, rows: list[Scheduled]) -> Sheet:
    columns = [("#", NUMBER, 5), (_("Milestone"), TEXT, 44), (_("Payment (%)"), COUNT, 14),
               (_("Trigger document"), TEXT, 34), (_("Date"), DATE, 14)]
    finish = {row.task.pk: row.finish for row in rows}
    cells = [[n, safe_text(row.localized_name), row.percent, row.get_trigger_display(),
              finish.get(row.task_id)] for n, row in enumerate(plan.milestones.all(), 1)]
    return _("Milestones"), columns, cells


def _head(sheet: Worksheet, engagement: Engagement, columns: int, subtitle: str) -> None:
    """Title, whose plan it is, from when to when."""
    title_row(sheet, columns, sheet.title, f"{engagement.code} {engagement.localized_name}")
    subtitle = " · ".join(filter(None, (safe_text(engagement.customer.localized_name), subtitle)))
    span(sheet, 2, (1, columns), subtitle, "desk_note")
    sheet.row_dimensions[2].height = 22


def _table(sheet: Worksheet, columns: list[Column], rows: list[list]) -> None:
    """Heads and rows; each row as high as its texts need."""
    for column, (title, style, _width) in enumerate(columns, 1):
        head = "desk_head_number" if style == COUNT else "desk_head"
        sheet.cell(HEAD_ROW, column, title).style = head
    sheet.row_dimensions[HEAD_ROW].height = height((title, width) for title, _s, width in columns)
    for n, values in enumerate(rows, HEAD_ROW + 1):
        for column, (value, (_title, style, _width)) in enumerate(
                zip(values, columns, strict=True), 1):
            sheet.cell(n, column, value).style = style
        sheet.row_dimensions[n].height = height(
            (value, width) for value, (_title, style, width) in zip(values, columns, strict=True)
            if style == TEXT)
