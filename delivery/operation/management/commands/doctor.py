"""Says what is missing in this installation, and what to do."""

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _
from django.utils.translation import override

from delivery.operation.diagnosis import BAD, GOOD, WARNING, findings


class Command(BaseCommand):
    help = ("Checks database, broker, storage, worker, fonts, clocks, keys, disk, mail, nodes and "
            "certificate; exit status 1 where something does not work.")
    requires_system_checks = ()

    def add_arguments(self, parser):
        parser.add_argument("--language", choices=[code for code, _name in settings.LANGUAGES],
                            default=settings.LANGUAGE_CODE)

    def handle(self, *args, language: str, **options):
        with override(language):
            self._look()

    def _look(self):
        marks = {GOOD: self.style.SUCCESS(_("ok    ")), WARNING: self.style.WARNING(_("look  ")),
                 BAD: self.style.ERROR(_("BROKEN"))}
        found = []
        for finding in findings():
            found.append(finding)
            self.stdout.write(_("%(mark)s  %(subject)s: %(sentence)s") % {
                "mark": marks[finding.state], "subject": finding.subject,
                "sentence": finding.sentence})
        broken = sum(finding.state == BAD for finding in found)
        if broken:
            raise CommandError(_("%(broken)d of %(all)d checks failed.") % {
                "broken": broken, "all": len(found)})
