"""Brings a backup into an empty installation."""

from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from delivery.operation.backup.restoring import chosen_backup, restore_backup
from engagements.errors import DeskError


class Command(BaseCommand):
    help = "Restores a backup into an empty database and an empty artifact store, and checks it."
    requires_system_checks = ()

    def add_arguments(self, parser):
        parser.add_argument("folder", type=Path)
        parser.add_argument("--backup", default="", metavar="NAME", help="the newest if left out")

    def handle(self, *args, folder: Path, backup: str, **options):
        try:
            chosen = chosen_backup(folder, backup)
            checked = restore_backup(folder, chosen)
        except (DeskError, OSError) as error:
            raise CommandError(str(error)) from error
        for fault in checked.faults:
            self.stderr.write(fault)
        if checked.faults:
            raise CommandError(f"Restored with {len(checked.faults)} faults; see the lines above.")
        self.stdout.write(f"Restored {chosen.name}: {sum(checked.manifest['rows'].values())} rows, "
                          f"{checked.files} files; hashes, audit log and rows are good.")
