"""From the effort estimate to a quote in one step."""

from collections import defaultdict
from decimal import Decimal

from django.db import transaction
from django.utils.translation import gettext as _

from delivery.planning.effort.usage import current_estimate
from delivery.planning.models import EffortEstimate, WorkItem
from delivery.planning.services.estimates import draft_estimate
from delivery.quotes import services as quoting
from delivery.quotes.models import Quote
from delivery.quotes.services.lines import EstimatedDays, add_estimated
from engagements.access import Can, require
from engagements.errors import InvalidInput
from engagements.models import Engagement, User

# Services of the price list (DOMAIN 6.2) that the items of the estimate are sold as.
SERVICE_OF = {
    WorkItem.SURVEY: "S-ASSESS", WorkItem.DESIGN: "S-ASSESS", WorkItem.ENV: "S-ENV",
    WorkItem.ADAPT: "S-TRAIN", WorkItem.OPERATORS: "S-OPS", WorkItem.ACCURACY: "S-ACC",
    WorkItem.PERFORMANCE: "S-PERF", WorkItem.CONVERT: "S-INFER", WorkItem.SERVE: "S-FRAME",
    WorkItem.TEST: "S-TEST", WorkItem.OPERATION: "S-RUN", WorkItem.MANAGEMENT: "S-PM",
}
FEW_MODELS = 12  # up to here the basis of a line names them


@transaction.atomic
def quote_estimate(*, actor: User, engagement: Engagement) -> Quote:
    """A draft quote with a line per service and grade: the likely days of the current estimate.

    Where there is no estimate yet it is computed first. The internal note names the estimate.
    Raises InvalidInput for an estimate without days, or items that no price list prices.
    """
    require(actor, Can.PRICE, engagement)
    estimate = current_estimate(engagement) or draft_estimate(actor=actor, engagement=engagement)
    rows = estimated_days(estimate)
    if not rows:
        raise InvalidInput(_("The estimate has no person-days."))
    note = _("From effort estimate V%(version)d (%(state)s).") % {
        "version": estimate.version, "state": estimate.get_state_display()}
    quote = quoting.create_quote(actor=actor, engagement=engagement, internal_note=note,
                                 estimate_version=estimate.version)
    return add_estimated(actor=actor, quote=quote, rows=rows)


def estimated_days(estimate: EffortEstimate) -> list[EstimatedDays]:
    """Likely days by service and grade, in the order of the work; zero days are left out."""
    days: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    models: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    lines = estimate.lines.select_related("model").order_by("position", "pk")
    for line in sorted(lines, key=lambda line: WorkItem.values.index(line.item)):
        key = SERVICE_OF[line.item], line.grade
        days[key] += line.likely
        if line.model:
            models[key][line.model.code] = None
    return [EstimatedDays(code, grade, total, _basis(list(models[code, grade])))
            for (code, grade), total in days.items() if total]


def _basis(codes: list[str]) -> str:
    """The models that the days are for; figures and codes only: the document has two languages."""
    if len(codes) <= FEW_MODELS:
        return ", ".join(codes)
    return f"{len(codes)} 个模型 / models"
