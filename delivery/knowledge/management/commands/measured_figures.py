"""Reads the library of measured figures up, or makes it anew."""

from django.core.management.base import BaseCommand

from delivery.knowledge.services import figures


class Command(BaseCommand):
    help = ("Takes what was measured, judged and worked since the last time into the library of "
            "measured figures; with --rebuild the whole library is made anew.")

    def add_arguments(self, parser):
        parser.add_argument("--rebuild", action="store_true",
                            help="read all models, not only those that changed")

    def handle(self, *args, rebuild: bool, **options):
        count = figures.rebuild() if rebuild else figures.refresh_changed()
        self.stdout.write(f"models read: {count}")
