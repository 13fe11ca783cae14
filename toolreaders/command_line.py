"""What `python -m toolreaders` and `manage.py` print of files: the same commands in both."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, TextIO

from toolreaders.base import Reading, json_safe
from toolreaders.file_reading import read_file
from toolreaders.scan import CHECKS, patch_of, scan_path
from toolreaders.source import ReadError
from toolreaders.verdicts.exact import FIGURES
from toolreaders.verdicts.log_comparison import compare_logs
from toolreaders.verdicts.verdict import Rule

LONGEST_VALUE = 300


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name; its exit status."""
    parser = argparse.ArgumentParser(prog="toolreaders", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    add_read_arguments(commands.add_parser("read", help="what each file is and what it holds"))
    add_scan_arguments(commands.add_parser("scan", help="what source code needs changed"))
    _add_compare_arguments(commands.add_parser(
        "compare", help="two training logs: common steps, figures and the verdict on them"))
    options = parser.parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # a terminal that has no Chinese letters
    if options.command == "read":
        return read(options.files, as_json=options.json, out=sys.stdout)
    try:
        if options.command == "compare":
            _compare(options, out=sys.stdout)
            return 0
        scan(options.path, as_json=options.json, patch=options.patch, out=sys.stdout)
    except (ReadError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def add_read_arguments(parser: argparse.ArgumentParser, files: str = "+") -> None:
    parser.add_argument("files", nargs=files, metavar="FILE")
    parser.add_argument("--json", action="store_true", help="one JSON object per file")


def add_scan_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", type=Path)
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--patch", type=Path, help="write the automatic-migration patch here")


def _add_compare_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("baseline", type=Path, metavar="BASELINE")
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--limit", type=limit_of, default="2%", metavar="LIMIT",
                        help="what the figure has to be below: 2%% or 0.02")
    parser.add_argument("--figure", choices=FIGURES, default=Rule.figure, metavar="FIGURE",
                        help=", ".join(FIGURES))
    parser.add_argument("--epsilon", type=float, default=1e-7,
                        help="least divisor of a relative error")
    parser.add_argument("--repeat", type=Path, action="append", default=[], metavar="FILE",
                        help="a repeat of the baseline; two or more make a band")
    parser.add_argument("--first-step", type=int, metavar="STEP")
    parser.add_argument("--last-step", type=int, metavar="STEP")
    parser.add_argument("--json", action="store_true", help="one JSON object")


def limit_of(text: str) -> Decimal:
    """The limit in "2%" or "0.02" as a fraction; raises ArgumentTypeError for anything else."""
    try:
        limit = Decimal(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except InvalidOperation:
        limit = Decimal("nan")
    if not limit.is_finite() or limit < 0:
        raise argparse.ArgumentTypeError(f"{text}: a limit such as 2% or 0.02 is expected")
    return limit


def _compare(options: argparse.Namespace, out: TextIO) -> None:
    """Print how the second log compares with the first one. Raises ReadError naming the file."""
    rule = Rule(figure=options.figure, epsilon=options.epsilon,
                first_step=options.first_step, last_step=options.last_step)
    unit = "" if options.figure == "mean_absolute_error" else "%"
    compared = compare_logs(options.baseline, options.file, rule, options.limit, options.repeat)
    answer = compared.values(rule, options.limit, unit)
    if options.json:
        _print_json(json_safe({"judged": options.figure, **answer}), out)
    else:
        print_comparison(answer, out)


def print_comparison(answer: dict[str, Any], out: TextIO) -> None:
    """Print the values of a comparison as text."""
    named = f"definition: {answer['definition']}   " if "definition" in answer else ""
    steps = f" (steps {answer['first_step']} to {answer['last_step']})"
    out.write(f"{answer['sentence']}\n"
              f"verdict: {answer['verdict']}   {named}common points: {answer['common_points']}"
              f"{steps if answer['common_points'] else ''}   "
              f"coverage: {answer['coverage']:.4f}   nonfinite: {answer['nonfinite']}   "
              f"aligned by: {answer['alignment']}   learning rates: {_rates(answer)}\n")
    for name, value in answer["figures"].items():
        out.write(f"  {name:36} {'–' if value is None else f'{value:.9g}'}\n")
    for finding in answer["differences"]:
        out.write(f"  difference {finding['code']}: {finding['sentence']}\n")
    for warning in answer["warnings"]:
        out.write(f"  warning {warning['code']}: {warning['message']}\n")


def _rates(answer: dict[str, Any]) -> str:
    found = answer["learning_rates"]
    if not found:
        return "not printed by both"
    return f"{found['differ']} of {found['compared']} differ"


def read(files: Sequence[str], *, as_json: bool, out: TextIO) -> int:
    """Print what each file holds; 1 if one of them is damaged or unknown, else 0."""
    status = 0
    for name in files:
        try:
            reading = read_file(name)
        except ReadError as error:
            status = 1
            _print_error(name, error, as_json, out)
        else:
            _print_reading(name, reading, as_json, out)
    return status


def _print_error(name: str, error: ReadError, as_json: bool, out: TextIO) -> None:
    if as_json:
        answer = {"code": error.code, "message": error.message}
        _print_json({"file": name, "kind": None, "error": answer}, out)
    else:
        out.write(f"{name}: cannot be read: {error.message} [{error.code}]\n")


def _print_reading(name: str, reading: Reading, as_json: bool, out: TextIO) -> None:
    if as_json:
        _print_json({"file": name, **asdict(reading)}, out)
        return
    tool = " ".join(part for part in (reading.tool, reading.tool_version) if part)
    out.write(f"{name}: {reading.kind}" + (f" ({tool})" if tool else "") + "\n")
    for key, value in reading.values.items():
        out.write(f"  {key}: {_short(value)}\n")
    for part in reading.parts:
        found = part.values if part.error is None else part.error
        out.write(f"  part {part.kind} (lines {part.first_line} to {part.last_line}): "
                  f"{_short(found)}\n")
    for warning in reading.warnings:
        line = f" (line {warning.line})" if warning.line else ""
        out.write(f"  warning {warning.code}{line}: {warning.message}\n")


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"


def _print_json(value: dict[str, Any], out: TextIO) -> None:
    out.write(json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n")


def scan(path: Path, *, as_json: bool, patch: Path | None, out: TextIO) -> dict:
    """Print what a source folder or archive needs changed, and the settings that it makes by
    itself; returns them. Raises ReadError, OSError."""
    values = scan_path(path).as_json()
    if patch:
        patch.write_text(patch_of(path), encoding="utf-8", newline="")
    if as_json:
        out.write(json.dumps(values, ensure_ascii=False) + "\n")
        return values
    for found in values["findings"]:
        out.write(f"{found['file']}:{found['line']}: {found['severity']}: "
                  f"{CHECKS[found['check']].title}: {found['snippet']}\n")
    for name, made in values["settings"].items():
        if made["value"]:
            out.write(f"{made['file']}:{made['line']}: setting: {name} = {made['value']}\n")
    out.write(f"{values['files']} files, {values['by_severity']}, "
              f"{values['person_days']} person-days (planning value)\n")
    return values
