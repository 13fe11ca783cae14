"""Compares two training logs. Exit status 0 whenever a verdict was computed, 1 for a bad file."""

import json
from decimal import Decimal, InvalidOperation
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from assessments.definitions.standard_library import BY_CODE, DEFAULT_CURVE, DEFAULT_THRESHOLD
from assessments.labels.verdict_sentences import sentence
from toolreaders.verdicts.devices import NO_NPU, not_proven, told_by
from toolreaders.verdicts.log_comparison import UnreadableLogError, compare_logs
from toolreaders.verdicts.verdict import Outcome
from workers.artifacts.artifact_store import finite_json

CURVES = [code for code, entry in BY_CODE.items() if entry.is_curve]


class Command(BaseCommand):
    help = "Reads two training logs of any known kind, aligns and judges them."
    requires_system_checks = []

    def add_arguments(self, parser):
        parser.add_argument("baseline", type=Path)
        parser.add_argument("candidate", type=Path)
        parser.add_argument("--definition", choices=CURVES, default=DEFAULT_CURVE)
        parser.add_argument("--threshold", default=str(DEFAULT_THRESHOLD),
                            help="as a fraction, 0.02 is 2 %%")
        parser.add_argument("--json", action="store_true", dest="as_json")

    def handle(self, *args, baseline, candidate, definition, threshold, as_json, **options):
        limit = _threshold(threshold)
        rule = BY_CODE[definition].rule()
        try:
            result = compare_logs(baseline, candidate, rule, limit)
        except UnreadableLogError as error:
            raise CommandError(f"{error.path}: {error.code}: {error.message}") from error
        outcome, unit = result.outcome, BY_CODE[definition].unit
        answer = {
            "common_points": outcome.facts["common_points"],
            "coverage": outcome.facts["coverage"], "nonfinite": outcome.facts["nonfinite"],
            "first_nonfinite_step": outcome.facts["first_nonfinite_step"],
            "figures": outcome.figures, "definition": definition, "figure": outcome.figure,
            "threshold": float(limit), "verdict": outcome.outcome, "reason": outcome.reason,
            "sentence": sentence(outcome.outcome, outcome.reason, outcome.figure, limit,
                                 rule.comparison, unit, outcome.facts),
            "warnings": [*map(vars, result.aligned.warnings), *_without_npu(candidate, outcome)],
        }
        if as_json:
            self.stdout.write(json.dumps(finite_json(answer), ensure_ascii=False))
        else:
            self._tell(answer)

    def _tell(self, answer: dict) -> None:
        self.stdout.write(answer["sentence"])
        self.stdout.write(f"verdict: {answer['verdict']}   definition: {answer['definition']}   "
                          f"common points: {answer['common_points']}   "
                          f"coverage: {answer['coverage']:.4f}   nonfinite: {answer['nonfinite']}")
        for name, value in answer["figures"].items():
            self.stdout.write(f"  {name:36} {'–' if value is None else f'{value:.9g}'}")
        for warning in answer["warnings"]:
            self.stdout.write(f"  warning {warning['code']}: {warning['message']}")


def _without_npu(candidate: Path, outcome: Outcome) -> list[dict]:
    """The curves of any two logs may be compared; what one of no NPU does not prove is said."""
    if (found := told_by(candidate)) is None:
        return []
    withheld = not_proven(outcome, found)
    return [{"code": NO_NPU, "line": found.line, "message": sentence(
        withheld.outcome, NO_NPU, None, DEFAULT_THRESHOLD, "", "", withheld.facts)}]


def _threshold(text: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation as error:
        raise CommandError(f"--threshold {text}: a number such as 0.02 is expected.") from error
    if not value.is_finite() or value < 0:
        raise CommandError(f"--threshold {text}: a finite number of at least 0 is expected.")
    return value
