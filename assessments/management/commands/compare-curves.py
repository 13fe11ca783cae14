"""Compares two training logs. Exit status 0 whenever a verdict was computed, 1 for a bad file."""

import json
from decimal import Decimal, InvalidOperation
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext

from assessments.definitions.standard_library import BY_CODE, DEFAULT_CURVE, DEFAULT_THRESHOLD
from toolreaders.command_line import print_comparison
from toolreaders.verdicts.log_comparison import UnreadableLogError, compare_logs
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
        parser.add_argument("--repeat", type=Path, action="append", default=[],
                            help="a repeat of the baseline; two or more make a band")
        parser.add_argument("--json", action="store_true", dest="as_json")

    def handle(self, *args, baseline, candidate, definition, threshold, repeat, as_json, **options):
        limit = _threshold(threshold)
        rule = BY_CODE[definition].rule()
        try:
            result = compare_logs(baseline, candidate, rule, limit, repeat)
        except UnreadableLogError as error:
            raise CommandError(str(error)) from error
        answer = {"definition": definition, **result.values(
            rule, limit, BY_CODE[definition].unit, gettext)}
        if as_json:
            self.stdout.write(json.dumps(finite_json(answer), ensure_ascii=False))
        else:
            print_comparison(answer, self.stdout)


def _threshold(text: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation as error:
        raise CommandError(f"--threshold {text}: a number such as 0.02 is expected.") from error
    if not value.is_finite() or value < 0:
        raise CommandError(f"--threshold {text}: a finite number of at least 0 is expected.")
    return value
