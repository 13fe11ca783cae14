"""The order in which accuracy is proven: forward results, loss curve, evaluation score (S2)."""

from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext as _

from assessments.models import Comparison, Criterion, Deviation, Verdict
from engagements.models import MigratedModel

Judged = tuple[Criterion, Verdict | None]


@dataclass(frozen=True)
class Level:
    """Whether one level of the order holds, what was found and where it stands."""

    is_met: bool
    sentence: str
    url: str = ""


def of_quantity(rows: list[Judged], name: str) -> list[Judged]:
    """The criteria of a quantity such as `score`, of whichever task."""
    return [(criterion, verdict) for criterion, verdict in rows
            if criterion.definition.quantity.partition(":")[0] == name]


def forward_results(model: MigratedModel) -> Level:
    """The newest comparison of operators that holds forward rows, all of them finite.

    Deviations are named and left to the curve's verdict: no general limit of a tensor decides
    whether a training converges alike.
    """
    comparison = Comparison.objects.filter(
        artifact__model=model, problem="", rows__gt=0).order_by("-artifact_id").first()
    if comparison is None:
        return Level(False, _("No comparison of operators of this model was read."))
    rows = comparison.operators.exclude(name__contains=".backward").exclude(
        role="parameters_grad")
    url = reverse("assessments:comparison", args=[comparison.artifact_id])
    total = rows.count()
    if not total:
        return Level(False, _("The newest comparison holds no forward result."), url)
    broken = rows.filter(reason=Deviation.NONFINITE).first()
    if broken:
        return Level(False, _("Of %(n)d forward results, %(name)s is not finite where the "
                              "reference is.") % {
            "n": total, "name": broken.name}, url)
    deviating = rows.exclude(reason="")
    first = deviating.first()
    if first is None:
        return Level(True, _("All %(n)d forward results agree within the limits.")
                     % {"n": total}, url)
    return Level(True, _("%(n)d forward results compared, all finite; %(deviating)d beyond the "
                         "limits, first %(name)s.")
                 % {"n": total, "deviating": deviating.count(), "name": first.name}, url)
