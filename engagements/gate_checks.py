"""Gate checks that need nothing from the higher apps."""

from collections.abc import Iterable

from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from engagements.gates import CheckResult, register_check
from engagements.models import StageRecord
from engagements.permissions import Can
from engagements.stages import Scope, Stage
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
        else _("All items confirmed (%(n)d).") % {"n": len(items)}
    )
    remedy = _("Confirm: %(items)s") % {
        "items": in_turn(open_items)} if open_items else ""
    yield CheckResult("checklist", _("Checklist"), not open_items, sentence,
                      stage_url(record) + "#checklist", remedy)


@register_check("route", Stage.DESIGN)
def route_recorded(record: StageRecord) -> Iterable[CheckResult]:
    """The design names the routes by which the model is trained and served on the NPU."""
    model = record.model
    for field, scope in (("training_route", Scope.INFERENCE), ("inference_route", Scope.TRAINING)):
        if model.scope == scope:
            continue
        route, label = getattr(model, field), model._meta.get_field(field).verbose_name
        yield CheckResult(
            field, capfirst(label), bool(route),
            str(getattr(model, f"get_{field}_display")()) if route else _("Not recorded yet."),
            reverse("engagements:model_edit", args=[record.engagement.code, model.code]),
            "" if route else _("Choose the route of the model; later gates follow from it."),
            needs=Can.MANAGE)


def stage_url(record: StageRecord) -> str:
    """The page of a model's stage."""
    return reverse("engagements:stage", args=[record.engagement.code, record.model.code,
                                              record.stage])
