"""Takes an installation to this version, and starts it."""

from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils.translation import gettext as _
from django.utils.translation import override

from delivery.operation import upgrading
from engagements.errors import DeskError
from engagements.management.translated import TranslatedCommand


class Command(TranslatedCommand):
    help = ("After a new version was put in place: backup, migrations, checks, then the running "
            "desk of this data folder ends and this version starts. Backs out if a step fails.")

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("--backups", type=Path, help="folder of backups; var/backups")
        parser.add_argument("--no-start", action="store_true",
                            help="where a service manager starts portal and workers")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--host", default="127.0.0.1")

    def handle(self, *args, backups: Path | None, no_start: bool, port: int, host: str,
               **options):
        try:
            upgrading.upgrade(backups=backups or Path(settings.VAR_DIR) / "backups",
                              say=self.stdout.write)
            if no_start:
                self.stdout.write(_("Now restart portal, workers and clock."))
                return
            if upgrading.stop_running():
                self.stdout.write(_("the running desk has ended; jobs on nodes go on"))
        except DeskError as error:
            raise CommandError(error.message) from error
        with override(settings.LANGUAGE_CODE):  # what it stores is for everybody
            call_command("up", port=port, host=host)
