"""Scan a source folder or archive for what a migration to the NPU has to change."""

import json
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from toolreaders.base import ReadError
from toolreaders.scan import CHECKS, patch_of, scan_path


class Command(BaseCommand):
    help = "Scan a source folder or archive; nothing of it is executed."

    def add_arguments(self, parser):
        parser.add_argument("path", type=Path)
        parser.add_argument("--json", action="store_true", help="one JSON object")
        parser.add_argument("--patch", type=Path, help="write the automatic-migration patch here")

    def handle(self, *args, path, patch=None, **options):
        try:
            report = scan_path(path)
            if patch:
                patch.write_text(patch_of(path), encoding="utf-8", newline="")
        except (ReadError, OSError) as error:
            raise CommandError(str(error)) from error
        values = report.as_json()
        if options["json"]:
            self.stdout.write(json.dumps(values, ensure_ascii=False))
            return
        for found in values["findings"]:
            self.stdout.write(f"{found['file']}:{found['line']}: {found['severity']}: "
                              f"{CHECKS[found['check']].title}: {found['snippet']}")
        self.stdout.write(f"{values['files']} files, {values['by_severity']}, "
                          f"{values['person_days']} person-days (planning value)")
