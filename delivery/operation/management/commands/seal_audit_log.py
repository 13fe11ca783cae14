"""Seals the end of an audit log whose seal is not valid, where somebody answers for it."""

from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from engagements.audit import end_sealing
from engagements.errors import DeskError
from engagements.management.translated import TranslatedCommand


class Command(TranslatedCommand):
    help = ("For a log that is good but for the seal of its end: after processes of an older "
            "version had gone on for more than a day, or tables were migrated back in between. "
            "The log is verified first, and an entry says that this was done. `migrate` seals "
            "the log of an older version by itself.")

    def handle(self, *args, **options):
        try:
            sentence = end_sealing.seal_end(anew=True)
        except DeskError as error:
            raise CommandError(error.message) from error
        self.stdout.write(
            sentence or _("The audit log's end has a valid seal; nothing was changed."))
