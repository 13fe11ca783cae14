"""Writes or checks a backup."""

from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from delivery.operation.backup.count_texts import files_text, rows_text
from delivery.operation.backup.faults import Fault
from delivery.operation.backup.keys import write_keys
from delivery.operation.backup.restoring import check_backup, chosen_backup
from delivery.operation.backup.writing import remove_old, write_backup
from engagements.errors import DeskError
from engagements.management.translated import TranslatedCommand


class Command(TranslatedCommand):
    help = ("Adds a backup of database and files to a folder while the desk runs; files that are "
            "there already are not copied again. With --check reads the newest one again.")

    def add_arguments(self, parser):
        super().add_arguments(parser)
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
        except DeskError as error:
            raise CommandError(error.message) from error
        except OSError as error:
            raise CommandError(_("A file cannot be read or written: %(cause)s") % {
                "cause": error}) from error
        for fault in faults:
            self.stderr.write(str(fault))
        if faults:
            raise CommandError((
                ngettext("The backup is damaged: %(n)d fault.",
                         "The backup is damaged: %(n)d faults.", len(faults)) if check else
                ngettext("%(n)d fault; everything else was saved.",
                         "%(n)d faults; everything else was saved.", len(faults))) % {
                "n": len(faults)})

    def _check(self, folder: Path) -> list[Fault]:
        checked = check_backup(folder, chosen_backup(folder))
        summary = (_("%(files)s, %(rows)s of %(made_at)s; sealed by this installation: yes")
                   if checked.is_sealed else
                   _("%(files)s, %(rows)s of %(made_at)s; sealed by this installation: NO"))
        self.stdout.write(summary % {
            "files": files_text(checked.files), "made_at": checked.manifest["made_at"],
            "rows": rows_text(sum(checked.manifest["rows"].values()))})
        return checked.faults

    def _write(self, folder: Path, keys: Path | None, keep: int | None) -> list[Fault]:
        if keys and keys.resolve().is_relative_to(folder.resolve()):
            raise CommandError(_(
                "Keys and data do not lie in one folder: name a file elsewhere."))
        outcome = write_backup(folder)
        if keys:
            write_keys(keys, settings.BACKUP_PASSPHRASE)
        if keep:
            remove_old(folder, max(1, keep))
        summary = (_("%(folder)s: %(rows)s, %(files)s, of them %(copied)d new (%(size).1f MB)")
                   if keys else _("%(folder)s: %(rows)s, %(files)s, of them %(copied)d new "
                                  "(%(size).1f MB); without the keys"))
        self.stdout.write(summary % {
            "folder": outcome.folder, "rows": rows_text(outcome.rows),
            "files": files_text(outcome.files), "copied": outcome.copied,
            "size": outcome.copied_bytes / 2**20})
        return outcome.faults
