"""Gate checks that need nothing from the higher apps."""

from collections.abc import Iterable

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from engagements.gates import CheckResult, register_check
from engagements.models import StageRecord


@register_check("checklist")
def checklist_done(record: StageRecord) -> Iterable[CheckResult]:
    """Every checklist item of the stage is confirmed."""
    items = list(record.checklist.all())
    if not items:
        return
    open_count = sum(item.done_at is None for item in items)
    sentence = (
        ngettext("%(n)d item is still open.", "%(n)d items are still open.", open_count)
        % {"n": open_count}
        if open_count
        else _("All %(n)d items are confirmed.") % {"n": len(items)}
    )
    yield CheckResult("checklist", _("Checklist"), open_count == 0, sentence)
