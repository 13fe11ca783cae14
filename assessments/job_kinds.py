"""Job kinds of this app."""

import csv
import io
import json
from decimal import Decimal
from typing import ClassVar

from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from assessments.definitions.standard_library import BY_CODE, DEFAULT_CURVE, DEFAULT_THRESHOLD
from assessments.verdicts.computation import aligned_curves, without_npu
from engagements.errors import InvalidInput
from engagements.stages import Stage
from toolreaders.base import ReadError
from toolreaders.verdicts.devices import not_proven
from toolreaders.verdicts.sentences import reason_message, shown
from toolreaders.verdicts.verdict import PASSED, judge_curve
from workers.artifacts import provenance
from workers.artifacts.artifact_store import finite_json
from workers.kinds import JobKind, Judgement, Parameter, register
from workers.models import Artifact

CURVES = tuple(code for code, entry in BY_CODE.items() if entry.is_curve)


@register
class LossCompare(JobKind):
    code = "acc.loss_compare"
    title = _("Loss-curve comparison")
    description = _("Aligns two stored training logs and judges them; runs on the server.")
    success = _("A figure was computed; the result states whether it passes.")
    usual_seconds = 5
    stages = (Stage.TRAIN_TUNE,)
    runs_on_node = False
    parameters: ClassVar = (
        Parameter("baseline", _("Baseline log (file number)"), "artifact"),
        Parameter("candidate", _("NPU log (file number)"), "artifact"),
        Parameter("definition", _("Definition"), "choice", default=DEFAULT_CURVE,
                  choices=CURVES),
        Parameter("threshold", _("Threshold (fraction)"), "number", minimum=0, maximum=1000,
                  default=float(DEFAULT_THRESHOLD)),
    )

    def facts(self, parameters):
        return {"compares_with_baseline": True}

    def run_here(self, job, parameters):
        try:
            candidate = _artifact(job, parameters["candidate"])
            aligned = aligned_curves(_artifact(job, parameters["baseline"]), candidate)
        except ReadError as error:
            return Judgement(False, gettext_noop("A log cannot be read: %(why)s"),
                             {"why": error.message}), {}
        rule = BY_CODE[parameters["definition"]].rule()
        threshold = Decimal(str(parameters["threshold"]))
        outcome = not_proven(judge_curve(aligned, threshold, rule),
                             without_npu(provenance.of(candidate)))
        facts = finite_json({"verdict": outcome.outcome, "reason": outcome.reason,
                             "figure": outcome.figure, "figures": outcome.figures,
                             **outcome.facts})
        outputs = {"compare.json": json.dumps(facts, indent=1).encode(),
                   "compare.csv": _table(aligned)}
        return _judgement(outcome, threshold, parameters["definition"], facts), outputs


def _artifact(job, number: int) -> Artifact:
    """A file of the job's own engagement. Raises InvalidInput for any other."""
    artifact = Artifact.objects.filter(pk=number, engagement=job.engagement).first()
    if artifact is None:
        raise InvalidInput(gettext("File %(number)s does not belong to this engagement.")
                           % {"number": number})
    return artifact


def _judgement(outcome, threshold, definition, facts) -> Judgement:
    has_figure = outcome.figure is not None
    if found := reason_message(outcome.reason, facts):
        return Judgement(has_figure, *found, facts)
    if not has_figure:
        return Judgement(False, gettext_noop("No figure could be computed."), {}, facts)
    figure, limit = shown(outcome.figure, threshold, BY_CODE[definition].unit)
    values = {"figure": figure, "limit": limit, "points": outcome.facts["common_points"]}
    if outcome.outcome == PASSED:
        return Judgement(True, gettext_noop(
            "%(figure)s against the limit of %(limit)s over %(points)s steps: passed."),
            values, facts)
    return Judgement(True, gettext_noop(
        "%(figure)s against the limit of %(limit)s over %(points)s steps: not passed."),
        values, facts)


def _table(aligned) -> bytes:
    """Step, both losses and the relative error, unrounded."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["step", "baseline", "candidate", "relative_error"])
    for step, b, n in zip(aligned.steps.tolist(), aligned.baseline.tolist(),
                          aligned.candidate.tolist(), strict=True):
        writer.writerow([step, repr(b), repr(n), repr(abs(n - b) / abs(b)) if b else ""])
    return text.getvalue().encode()
