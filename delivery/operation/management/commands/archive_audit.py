"""Moves old entries of the audit log into files of the artifact store."""

from django.conf import settings
from django.core.management.base import CommandError
from django.utils import timezone
from django.utils.translation import gettext as _

from delivery.operation import audit_archiving
from engagements.errors import WrongState
from engagements.management.translated import TranslatedCommand


class Command(TranslatedCommand):
    help = ("Archives the months of the audit log that ended more than DESK_AUDIT_DAYS days ago; "
            "the clock does the same every hour where that is set. `verify --audit` checks "
            "archives and log together.")

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("--days", type=int, help="instead of DESK_AUDIT_DAYS")

    def handle(self, *args, days: int | None, **options):
        days = settings.AUDIT_DAYS if days is None else days
        if days <= 0:
            raise CommandError(_("Set DESK_AUDIT_DAYS, or give --days."))
        now, archived = timezone.now(), []
        try:
            for archive in audit_archiving.archive_old(now=now, days=days):
                archived.append(archive)
                self.stdout.write(_("%(name)s: entries %(first)d to %(last)d, %(size).1f MB") % {
                    "name": archive, "first": archive.first_number, "last": archive.last_number,
                    "size": archive.size / 2**20})
        except WrongState as error:
            raise CommandError(error.message) from error
        if engagement := audit_archiving.waits_for(now, days):
            self.stdout.write(_("Entries of %(code)s follow, which is not closed: it and what came "
                                "after stay in the table.") % {"code": engagement.code})
        elif not archived:
            self.stdout.write(_(
                "Nothing to do: no entry is of a month that ended more than %(days)d days ago.") % {
                    "days": days})
