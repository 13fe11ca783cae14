"""``manage.py read FILE… [--json]``: what kind of tool output each file is and what it holds."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from toolreaders import ReadError, Reading, read_file
from workers import reading_keys


class Command(BaseCommand):
    help = "Say what kind of tool output each file is and what it holds; or list all keys."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="*", metavar="FILE")
        parser.add_argument("--json", action="store_true", help="one JSON object per file")
        parser.add_argument("--list-keys", action="store_true", help="the keys of the values, by "
                            "kind, as docs/reading-keys.md holds them")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["list_keys"]:
            self.stdout.write(reading_keys.as_markdown(), ending="")
            return
        if not options["files"]:
            raise CommandError("Name at least one file, or ask for --list-keys.")
        failed = False
        for name in options["files"]:
            try:
                reading = read_file(name)
            except ReadError as error:
                failed = True
                self._say_error(name, error, as_json=options["json"])
            else:
                self._say_reading(name, reading, as_json=options["json"])
        if failed:
            sys.exit(1)

    def _say_error(self, name: str, error: ReadError, *, as_json: bool) -> None:
        if as_json:
            answer = {"code": error.code, "message": error.message}
            self._write_json({"file": name, "kind": None, "error": answer})
        else:
            self.stdout.write(f"{name}: cannot be read: {error.message} [{error.code}]")

    def _say_reading(self, name: str, reading: Reading, *, as_json: bool) -> None:
        if as_json:
            self._write_json({"file": name, **asdict(reading)})
            return
        tool = " ".join(part for part in (reading.tool, reading.tool_version) if part)
        self.stdout.write(f"{name}: {reading.kind}" + (f" ({tool})" if tool else ""))
        for key, value in reading.values.items():
            self.stdout.write(f"  {key}: {_short(value)}")
        for warning in reading.warnings:
            line = f" (line {warning.line})" if warning.line else ""
            self.stdout.write(f"  warning {warning.code}{line}: {warning.message}")

    def _write_json(self, value: dict[str, Any]) -> None:
        self.stdout.write(json.dumps(value, ensure_ascii=False, allow_nan=False))


def _short(value: Any, limit: int = 300) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else text[: limit - 1] + "…"
