"""What `python -m toolreaders` and `manage.py` print of files: the same commands in both."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TextIO

from toolreaders.base import Reading, read_file
from toolreaders.scan import CHECKS, patch_of, scan_path
from toolreaders.source import ReadError

LONGEST_VALUE = 300


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name; its exit status."""
    parser = argparse.ArgumentParser(prog="toolreaders", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    add_read_arguments(commands.add_parser("read", help="what each file is and what it holds"))
    add_scan_arguments(commands.add_parser("scan", help="what source code needs changed"))
    options = parser.parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # a terminal that has no Chinese letters
    if options.command == "read":
        return read(options.files, as_json=options.json, out=sys.stdout)
    try:
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
    for warning in reading.warnings:
        line = f" (line {warning.line})" if warning.line else ""
        out.write(f"  warning {warning.code}{line}: {warning.message}\n")


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"


def _print_json(value: dict[str, Any], out: TextIO) -> None:
    out.write(json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n")


def scan(path: Path, *, as_json: bool, patch: Path | None, out: TextIO) -> None:
    """Print what a source folder or archive needs changed. Raises ReadError, OSError."""
    values = scan_path(path).as_json()
    if patch:
        patch.write_text(patch_of(path), encoding="utf-8", newline="")
    if as_json:
        out.write(json.dumps(values, ensure_ascii=False) + "\n")
        return
    for found in values["findings"]:
        out.write(f"{found['file']}:{found['line']}: {found['severity']}: "
                  f"{CHECKS[found['check']].title}: {found['snippet']}\n")
    out.write(f"{values['files']} files, {values['by_severity']}, "
              f"{values['person_days']} person-days (planning value)\n")
