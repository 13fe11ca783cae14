"""Gate checks about criteria and verdicts."""

from collections.abc import Iterable

from django.urls import reverse
from django.utils.translation import gettext as _

from assessments.models import CriteriaSet, Outcome
from assessments.queries import current_criteria, latest_verdicts, verdict_sentence
from engagements.gates import CheckResult, register_check
from engagements.models import StageRecord
from engagements.stages import Stage


@register_check("criteria")
def criteria_are_signed(record: StageRecord) -> Iterable[CheckResult]:
    """Design ends with signed criteria that name this model (DOMAIN 2.2), acceptance needs them."""
    if record.stage not in (Stage.DESIGN, Stage.ACCEPT):
        return
    current = current_criteria(record.engagement)
    is_signed = bool(current and current.state == CriteriaSet.State.SIGNED)
    names_model = bool(current and current.criteria.filter(model=record.model).exists())
    sentence = (
        _("Signed as version %(version)d.") % {"version": current.version}
        if is_signed and names_model else
        _("The signed criteria hold no criterion for this model.") if is_signed else
        _("The acceptance criteria are not signed yet."))
    yield CheckResult("criteria", _("Acceptance criteria"), is_signed and names_model, sentence,
                      reverse("assessments:criteria", args=[record.engagement.code]))


@register_check("verdicts")
def verdicts_passed(record: StageRecord) -> Iterable[CheckResult]:
    """Every criterion of the stage is passed; acceptance asks for all criteria of the model."""
    for criterion, verdict in latest_verdicts(record.engagement, record.model):
        if record.stage not in (criterion.stage, Stage.ACCEPT):
            continue
        yield CheckResult(
            f"verdict:{criterion.pk}", criterion.definition.local_name,
            bool(verdict and verdict.outcome == Outcome.PASSED),
            verdict_sentence(criterion, verdict),
            reverse("assessments:criterion", args=[criterion.pk]))
