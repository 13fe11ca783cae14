"""``manage.py read FILE… [--json]``: what kind of tool output each file is and what it holds."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from toolreaders import command_line, reading_keys


class Command(BaseCommand):
    help = "Say what kind of tool output each file is and what it holds; or list all keys."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        command_line.add_read_arguments(parser, files="*")
        parser.add_argument("--list-keys", action="store_true", help="the keys of the values, by "
                            "kind, as docs/reading-keys.md holds them")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["list_keys"]:
            self.stdout.write(reading_keys.as_markdown(), ending="")
            return
        if not options["files"]:
            raise CommandError("Name at least one file, or ask for --list-keys.")
        if command_line.read(options["files"], as_json=options["json"], out=self.stdout):
            sys.exit(1)
