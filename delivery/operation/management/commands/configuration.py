"""``manage.py configuration``: write the documentation of the settings."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from delivery.operation import configuration


class Command(BaseCommand):
    help = "Write docs/configuration.md and docs/configuration.zh-CN.md from the settings."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        for path, text in configuration.documents().items():
            path.write_text(text, "utf-8")
            self.stdout.write(str(path.relative_to(settings.BASE_DIR)))
