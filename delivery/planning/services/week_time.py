"""Writing a week of one's own time at once."""

from collections.abc import Mapping
from datetime import date, timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.planning.models import TimeEntry
from delivery.planning.plan.working_days import firm_days, is_working_day
from delivery.planning.services.time_entries import record_time, remove_time
from delivery.planning.time.week_grid import Work, choices, grid
from engagements.errors import InvalidInput
from engagements.models import Engagement, MigratedModel, User


@transaction.atomic
def save_week(*, actor: User, monday: date, cells: Mapping[str, str], today: date | None = None
              ) -> int:
    """Book, change and remove half-days of one's own week, all or none; how many changed.

    Args:
        cells: key of the work (`choices`) by the cell's name (`2026-11-30-am`); "" for nothing.
            Cells that are left out, on a timesheet or of a day to come stay as they are.
    Raises InvalidInput for work that is not offered, and what `record_time` raises. Writes an
    audit entry for each half-day.
    """
    today, changed = today or timezone.localdate(), 0
    offered = choices(actor, today)
    for _label, row in grid(actor, monday, today).rows:
        for cell in row:
            key = cells.get(cell.name)
            if cell.is_fixed or key is None or key == cell.key:
                continue
            if key and key not in offered:
                raise InvalidInput(_("This work is not offered: %(key)s.") % {"key": key})
            if cell.entry:
                remove_time(actor=actor, entry=cell.entry)
            if key:
                _record(actor, _work(key), cell.day, cell.half, today)
            changed += 1
    return changed


@transaction.atomic
def copy_week(*, actor: User, monday: date, today: date | None = None) -> int:
    """Book the empty half-days of the week, up to today, as those a week before; how many. Days
    off are left empty, and so is work of engagements that are over. Writes an audit entry for
    each half-day."""
    today, week, firm = today or timezone.localdate(), timedelta(days=7), firm_days()
    before = {cell.name: cell.entry for _label, row in grid(actor, monday - week, today).rows
              for cell in row}
    count = 0
    for _label, row in grid(actor, monday, today).rows:
        for cell in row:
            last = before[f"{(cell.day - week).isoformat()}-{cell.half}"]
            if (cell.entry or cell.is_fixed or last is None or last.engagement.has_ended
                    or not is_working_day(cell.day, firm)):
                continue
            record_time(actor=actor, engagement=last.engagement, work_date=cell.day,
                        half=cell.half, item=last.item, grade=last.grade, model=last.model,
                        stage=last.stage, note=last.note, today=today)
            count += 1
    return count


def _record(actor: User, work: Work, day: date, half: str, today: date) -> TimeEntry:
    """Whoever fills the cell of a day off says that it was worked."""
    return record_time(
        actor=actor, engagement=Engagement.objects.get(pk=work.engagement), work_date=day,
        half=half, item=work.item, grade=work.grade, stage=work.stage, today=today,
        model=work.model and MigratedModel.objects.get(pk=work.model), is_free_day=True)


def _work(key: str) -> Work:
    engagement, model, stage, item, grade = key.split(":")
    return Work(int(engagement), int(model) if model else None, stage, item, grade)
