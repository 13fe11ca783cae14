"""Gate checks about criteria and verdicts."""

from collections.abc import Iterable

from django.urls import reverse
from django.utils.translation import gettext as _

from assessments.accuracy import allowlist, order
from assessments.accuracy.readings import newest_config_check
from assessments.models import CriteriaSet, Criterion, Outcome, Verdict
from assessments.presentation.quantity_labels import criterion_name
from assessments.presentation.verdict_rows import config_sentence
from assessments.queries import (
    current_criteria,
    failed_signed_criteria,
    latest_verdicts,
    verdict_sentence,
    waiver_of,
)
from engagements.gates import CheckResult, register_check
from engagements.models import StageRecord
from engagements.stages import Stage
from engagements.text.text_joining import labelled


@register_check("criteria", Stage.DESIGN, Stage.ACCEPT)
def criteria_are_signed(record: StageRecord) -> Iterable[CheckResult]:
    """Design ends with signed criteria that name this model (DOMAIN 2.2), acceptance needs them."""
    current = current_criteria(record.engagement)
    is_signed = bool(current and current.state == CriteriaSet.State.SIGNED)
    names_model = bool(current and current.criteria.filter(model=record.model).exists())
    sentence = (
        _("Signed as version %(version)d.") % {"version": current.version}
        if is_signed and names_model else
        _("The signed criteria hold no criterion for this model.") if is_signed else
        _("The acceptance criteria are not signed yet."))
    is_met = is_signed and names_model
    yield CheckResult("criteria", _("Acceptance criteria"), is_met, sentence,
                      reverse("assessments:criteria", args=[record.engagement.code]),
                      "" if is_met else _("Add a criterion for this model to a version of the "
                                          "criteria, and have it signed."))


@register_check("verdicts")
def verdicts_passed(record: StageRecord) -> Iterable[CheckResult]:
    """Every criterion of the stage is passed or waived; acceptance asks for all of the model."""
    for criterion, verdict in latest_verdicts(record.engagement, record.model):
        if record.stage not in (criterion.stage, Stage.ACCEPT):
            continue
        is_met, sentence = _met(criterion, verdict)
        yield CheckResult(
            f"verdict:{criterion.pk}", criterion_name(criterion), is_met, sentence,
            reverse("assessments:criterion", args=[criterion.pk]),
            "" if is_met else _remedy(verdict), outcome=_outcome(is_met, verdict))


@register_check("earlier_verdicts")
def earlier_stages_hold(record: StageRecord) -> Iterable[CheckResult]:
    """No signed criterion of an earlier stage fails today: a stage that passed before its
    criterion was tightened or measured anew is nothing to build on."""
    earlier = Stage.values[:Stage.values.index(record.stage)]
    if record.stage == Stage.ACCEPT:
        return  # asks for every criterion itself
    for criterion, verdict in failed_signed_criteria(record.engagement, record.model):
        if criterion.stage in earlier:
            yield CheckResult(
                f"earlier_verdict:{criterion.pk}",
                labelled(criterion.get_stage_display(), criterion_name(criterion)),
                False, verdict_sentence(criterion, verdict),
                reverse("assessments:criterion", args=[criterion.pk]), _remedy(verdict),
                outcome=_outcome(False, verdict))


@register_check("config_check", Stage.TRAIN_TUNE)
def configurations_agree(record: StageRecord) -> Iterable[CheckResult]:
    """The newest comparison of the model's configurations passes after the reviewed allow-list
    (DOMAIN R-ACC-02). Silent where none was compared."""
    reading = newest_config_check(record.model)
    if reading is None:
        return
    verdict = allowlist.outcome_of(reading)
    is_met = verdict.outcome == Outcome.PASSED
    yield CheckResult(
        "config_check", _("Configuration check"), is_met, config_sentence(verdict),
        reverse("assessments:config_check", args=[reading.artifact_id]),
        "" if is_met else _("Align both configurations and compare again; propose inherent "
                            "differences for the allow-list and have them reviewed."))


@register_check("accuracy_order", Stage.TRAIN_TUNE)
def accuracy_is_proven_in_order(record: StageRecord) -> Iterable[CheckResult]:
    """Forward results, then the curve, then the score (S2): what comes later counts only where
    what comes before it holds. Silent for models without a criterion on curve or score."""
    rows = [(criterion, verdict) for criterion, verdict in latest_verdicts(
        record.engagement, record.model) if criterion.stage == record.stage]
    curves, scores = (order.of_quantity(rows, name) for name in ("loss_curve", "score"))
    if not curves and not scores:
        return
    forward = order.forward_results(record.model)
    yield CheckResult(
        "accuracy_order:forward", _("Accuracy, first: forward results"), forward.is_met,
        forward.sentence, forward.url,
        "" if forward.is_met else _("Dump one step of both sides at the level L1 and compare "
                                    "them (accuracy comparison), before curve and score."))
    for criterion, verdict in curves if scores else ():
        is_met, sentence = _met(criterion, verdict)
        if not is_met:
            yield CheckResult(
                f"accuracy_order:{criterion.pk}", _("Accuracy, then: curve before score"), False,
                _("The score counts only where the curve holds: %(why)s") % {"why": sentence},
                reverse("assessments:criterion", args=[criterion.pk]), _remedy(verdict))


def _outcome(is_met: bool, verdict: Verdict | None) -> str:
    """The verdict's own word; waived where that alone lets it through."""
    if verdict is None:
        return Outcome.NOT_MEASURED
    return "waived" if is_met and verdict.outcome != Outcome.PASSED else verdict.outcome


def _remedy(verdict: Verdict | None) -> str:
    """What would make the criterion pass."""
    if verdict is None or verdict.outcome == Outcome.NOT_MEASURED:
        return _("Run the measurement or import its raw file.")
    if verdict.outcome == Outcome.NOT_PROVABLE:
        return _("Resolve what is named above: definition, baseline, coverage or environment "
                 "differences.")
    return _("Tune and measure again, or have a manager sign a waiver for this criterion.")


def _met(criterion: Criterion, verdict: Verdict | None) -> tuple[bool, str]:
    """Passed, or waived: then it says so, and that the verdict stays."""
    found = verdict_sentence(criterion, verdict)
    if verdict and verdict.outcome == Outcome.PASSED:
        return True, found
    waiver = waiver_of(criterion) if verdict else None
    if waiver is None:
        return False, found
    return True, _("Not passed, but waived by %(who)s until %(day)s (%(reason)s): %(found)s") % {
        "who": waiver.signed_by, "day": waiver.expires_on, "reason": waiver.reason,
        "found": found}
