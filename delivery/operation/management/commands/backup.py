"""Writes or checks a backup."""

from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from delivery.operation.backup.keys import write_keys
from delivery.operation.backup.restoring import check_backup, chosen_backup
from delivery.operation.backup.writing import remove_old, write_backup
from engagements.errors import DeskError


class Command(BaseCommand):
    help = ("Adds a backup of database and files to a folder while the desk runs; files that are "
            "there already are not copied again. With --check reads the newest one again.")

    def add_arguments(self, parser):
        parser.add_argument("folder", type=Path)
        parser.add_argument("--keys", type=Path, metavar="FILE", help=(
            "also write the keys, encrypted under DESK_BACKUP_PASSPHRASE, to a file that lies "
            "elsewhere"))
        parser.add_argument("--keep", type=int, metavar="N", help="remove all but the newest N")
        parser.add_argument("--check", action="store_true", help="check the newest, write none")

    def handle(self, *args, folder: Path, keys: Path | None, keep: int | None, check: bool,
               **options):
        try:
            faults = self._check(folder) if check else self._write(folder, keys, keep)
        except (DeskError, OSError) as error:
            raise CommandError(str(error)) from error
        for fault in faults:
            self.stderr.write(fault)
        if faults:
            raise CommandError(f"{len(faults)} faults; everything else was saved." if not check
                               else f"The backup is damaged: {len(faults)} faults.")

    def _check(self, folder: Path) -> list[str]:
        checked = check_backup(folder, chosen_backup(folder))
        self.stdout.write(f"{checked.files} files, {sum(checked.manifest['rows'].values())} rows "
                          f"of {checked.manifest['made_at']}; sealed by this installation: "
                          f"{'yes' if checked.is_sealed else 'NO'}")
        return checked.faults

    def _write(self, folder: Path, keys: Path | None, keep: int | None) -> list[str]:
        if keys and keys.resolve().is_relative_to(folder.resolve()):
            raise CommandError("Keys and data do not lie in one folder: name a file elsewhere.")
        outcome = write_backup(folder)
        if keys:
            write_keys(keys, settings.BACKUP_PASSPHRASE)
        if keep:
            remove_old(folder, max(1, keep))
        self.stdout.write(f"{outcome.folder}: {outcome.rows} rows, {outcome.files} files, of them "
                          f"{outcome.copied} new ({outcome.copied_bytes / 2**20:.1f} MB)"
                          + ("" if keys else "; without the keys"))
        return outcome.faults
