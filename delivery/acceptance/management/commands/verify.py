"""Recomputes every checksum and every verdict of an evidence bundle, offline."""

from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _
from django.utils.translation import override

from delivery.acceptance.verifying import verify_bundle


class Command(BaseCommand):
    help = "Checks an evidence bundle from its raw files; needs no database and no network."
    requires_system_checks = ()
    requires_migrations_checks = False

    def add_arguments(self, parser):
        parser.add_argument("bundle", type=Path)
        parser.add_argument("--language", choices=[code for code, _name in settings.LANGUAGES],
                            default=settings.LANGUAGE_CODE)

    def handle(self, *args, bundle: Path, language: str, **options):
        with override(language):
            if not bundle.is_file():
                raise CommandError(_("There is no file %(path)s.") % {"path": bundle})
            failed = 0
            for step in verify_bundle(bundle):
                failed += not step.is_good
                self.stdout.write(f"{'  ok' if step.is_good else 'FAIL'}  {step.text}")
            if failed:
                raise CommandError(_("The bundle is NOT good: %(n)d steps failed.")
                                   % {"n": failed})
            self.stdout.write(_("The bundle is good."))
