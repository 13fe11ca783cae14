"""Gate checks that need nothing from the higher apps."""

from collections.abc import Iterable

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from engagements.gates import CheckResult, register_check
from engagements.models import StageRecord
from engagements.text.text_joining import in_turn


@register_check("checklist")
def checklist_done(record: StageRecord) -> Iterable[CheckResult]:
    """Every checklist item of the stage is confirmed."""
    items = list(record.checklist.all())
    if not items:
        return
    open_items = [item for item in items if item.done_at is None]
    sentence = (
        ngettext("%(n)d item is still open.", "%(n)d items are still open.", len(open_items))
        % {"n": len(open_items)}
        if open_items
        else _("All %(n)d items are confirmed.") % {"n": len(items)}
    )
    remedy = _("Confirm: %(items)s") % {
        "items": in_turn(open_items)} if open_items else ""
    yield CheckResult("checklist", _("Checklist"), not open_items, sentence,
                      stage_url(record) + "#checklist", remedy)


def stage_url(record: StageRecord) -> str:
    """The page of a model's stage."""
    return reverse("engagements:stage", args=[record.engagement.code, record.model.code,
                                              record.stage])
