"""Commands that speak the portal's languages."""

import sys

from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils.translation import override


class TranslatedCommand(BaseCommand):
    """A command whose sentences are in the language that `--language` names."""

    def add_arguments(self, parser):
        parser.add_argument("--language", choices=[code for code, _name in settings.LANGUAGES],
                            default=settings.LANGUAGE_CODE)

    def execute(self, *args, **options):
        if hasattr(sys.stdout, "reconfigure"):  # no terminal's encoding ends a command half-way
            sys.stdout.reconfigure(errors="backslashreplace")
        with override(options["language"]):
            return super().execute(*args, **options)
