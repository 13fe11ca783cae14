"""Brings a backup into an empty installation."""

from pathlib import Path

from django.core.management.base import CommandError
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from delivery.acceptance.signing.seals import trial
from delivery.operation.backup.count_texts import files_text, rows_text
from delivery.operation.backup.restoring import chosen_backup, restore_backup
from engagements.errors import DeskError
from engagements.management.translated import TranslatedCommand


class Command(TranslatedCommand):
    help = "Restores a backup into an empty database and an empty artifact store, and checks it."
    requires_system_checks = ()

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("folder", type=Path)
        parser.add_argument("--backup", default="", metavar="NAME", help="the newest if left out")

    def handle(self, *args, folder: Path, backup: str, **options):
        try:
            chosen = chosen_backup(folder, backup)
            checked = restore_backup(folder, chosen)
        except DeskError as error:
            raise CommandError(error.message) from error
        except OSError as error:
            raise CommandError(_("A file cannot be read or written: %(cause)s") % {
                "cause": error}) from error
        for fault in checked.faults:
            self.stderr.write(str(fault))
        if checked.faults:
            raise CommandError(ngettext(
                "Restored with %(n)d fault; see the line above.",
                "Restored with %(n)d faults; see the lines above.", len(checked.faults)) % {
                "n": len(checked.faults)})
        self.stdout.write(_("Restored %(name)s: %(rows)s, %(files)s; hashes, audit log and rows "
                            "are good.") % {
            "name": chosen.name, "files": files_text(checked.files),
            "rows": rows_text(sum(checked.manifest["rows"].values()))})
        if seen := checked.lost_after:
            self.stderr.write(_("On %(day)s this installation's audit log went up to entry "
                                "%(number)d; the backup ends before it, and what followed is "
                                "lost.") % {"day": seen.at[:10], "number": seen.number})
        self._try_seal()

    def _try_seal(self) -> None:
        """Whether what was restored can seal: keys lie apart from a backup's data."""
        try:
            found = trial.seal_empty_page()
        except (DeskError, OSError) as error:
            self.stderr.write(_("Documents cannot be sealed here yet: %(reason)s") % {
                "reason": getattr(error, "message", error)})
            return
        self.stdout.write(_("A test document was sealed: %(subject)s, %(level)s.") % {
            "subject": found.certificate.subject, "level": trial.reached(found)})
