"""``manage.py job_kinds``: the table of all kinds of jobs, as docs/job-kinds.md holds it."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import translation

from workers.jobs import kind_catalogue


class Command(BaseCommand):
    help = "Print the kinds of jobs as a table; docs/job-kinds.md holds it below its marker."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        with translation.override("en"):
            self.stdout.write(kind_catalogue.as_markdown(), ending="")
