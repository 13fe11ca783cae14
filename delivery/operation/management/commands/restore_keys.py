"""Puts the keys of a lost installation into the data folder of a new one."""

from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from delivery.operation.backup.keys import put_keys, read_keys
from delivery.operation.backup.restoring import data_folder
from engagements.errors import DeskError
from engagements.management.translated import TranslatedCommand


class Command(TranslatedCommand):
    help = "Puts keys of `backup --keys` into the data folder; run it before `restore`."
    requires_system_checks = ()

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("file", type=Path)
        parser.add_argument("--replace", action="store_true", help=(
            "keys of this folder that nothing was encrypted with yet are overwritten"))

    def handle(self, *args, file: Path, replace: bool, **options):
        folder = data_folder()
        try:
            left = put_keys(read_keys(file, settings.BACKUP_PASSPHRASE), folder,
                            replaces=replace)
        except DeskError as error:
            raise CommandError(error.message) from error
        self.stdout.write("\n".join([
            _("The keys are in %(folder)s.") % {"folder": folder}, *left]))
