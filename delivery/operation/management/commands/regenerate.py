"""``manage.py regenerate``: everything in the repository that is made of the code."""

import io
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.utils import translation
from django.utils.translation.reloader import translation_file_changed

from delivery.operation import configuration, consequences, state_machines
from toolreaders import reading_keys
from workers.jobs import kind_catalogue

ELSEWHERE = [".venv", "node_modules", "var"]


class Command(BaseCommand):
    help = ("Write what is made of the code: docs/reading-keys.md, docs/job-kinds.md (its table), "
            "docs/state-machines.md, docs/consequences.md, docs/openapi.yaml, "
            "docs/configuration.md (both languages), "
            "and the Chinese catalogue.")
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("makemessages", locale=["zh_Hans"], no_location=True, no_obsolete=True,
                     ignore_patterns=ELSEWHERE, verbosity=0)
        call_command("compilemessages", ignore_patterns=ELSEWHERE, verbosity=0)
        translation_file_changed(self, Path("django.mo"))  # what was loaded before is old
        for path, text in documents().items():
            if not path.exists() or path.read_text("utf-8") != text:
                path.write_text(text, "utf-8")
                self.stdout.write(str(path.relative_to(settings.BASE_DIR)))


def documents() -> dict[Path, str]:
    """The text of each generated document by its place."""
    docs = settings.BASE_DIR / "docs"
    kinds = docs / "job-kinds.md"
    with translation.override("en"):
        table = kind_catalogue.as_markdown()
    api = io.StringIO()
    call_command("spectacular", lang="en", stdout=api, stderr=io.StringIO())
    return {docs / "reading-keys.md": reading_keys.as_markdown(),
            kinds: kinds.read_text("utf-8").partition(kind_catalogue.MARKER)[0] + table,
            docs / "state-machines.md": state_machines.as_markdown(),
            docs / "consequences.md": consequences.as_markdown(),
            docs / "openapi.yaml": api.getvalue(),
            **configuration.documents()}
