"""Scan a source folder or archive for what a migration to the NPU has to change."""

from django.core.management.base import BaseCommand, CommandError

from toolreaders import ReadError, command_line
from workers import rule_checks


class Command(BaseCommand):
    help = "Scan a source folder or archive; nothing of it is executed."

    def add_arguments(self, parser):
        command_line.add_scan_arguments(parser)

    def handle(self, *args, path, patch=None, **options):
        try:
            values = command_line.scan(path, as_json=options["json"], patch=patch, out=self.stdout)
        except (ReadError, OSError) as error:
            raise CommandError(str(error)) from error
        for hit in [] if options["json"] else rule_checks.of_scanned_settings(values).hits:
            self.stdout.write(f"{hit.source}: {hit.severity}: {hit.sentence}")
