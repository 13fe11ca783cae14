"""Reads every stored file again and says which are damaged and what rests on them."""

from django.core.management.base import CommandError
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.operation.backup.faults import audit_log_faults
from delivery.operation.dependents import dependents_of
from delivery.operation.models import DamagedFile
from delivery.operation.stored_file_checks import walk_everything
from engagements.audit import audit_log, checkpoint
from engagements.management.translated import TranslatedCommand


class Command(TranslatedCommand):
    help = ("Reads every stored file at once and compares it with the checksum in its row; exit "
            "status 1 where one is damaged. The clock does the same slowly all the time.")

    def handle(self, *args, **options):
        damaged = []
        walk = walk_everything(now=timezone.now(), found=damaged.append)
        for damage in damaged:
            self._say(damage)
        self.stdout.write(_("%(files)d files read, %(size).1f MB; of %(unproven)d no checksum is "
                            "recorded: they were only read.") % {
            "files": walk.files, "size": walk.bytes / 2**20, "unproven": walk.unproven})
        self._require_whole_log()
        if damaged:
            raise CommandError(_("%(n)d files are damaged. Restore them from a backup.") % {
                "n": len(damaged)})

    def _require_whole_log(self) -> None:
        """Which files there are is known from rows, and these from the audit log."""
        for fault in audit_log_faults(audit_log.findings(checkpoint.behind_archives())):
            raise CommandError(_("%(fault)s. Rows that name files may be missing; `manage.py "
                                 "verify --audit` names the rest.") % {"fault": fault})

    def _say(self, damage: DamagedFile) -> None:
        self.stdout.write(self.style.ERROR(f"{damage.name}: {damage.get_fault_display()} "
                                           f"{damage.cause}".rstrip()))
        for dependent in dependents_of(damage.name):
            self.stdout.write(f"  {dependent.text}" if not dependent.is_document else
                              "  " + _("issued document %(name)s") % {"name": dependent.text})
