"""Says what is missing in this installation, and what to do."""

import time

from django.core.management.base import CommandError
from django.utils.translation import gettext as _

from delivery.operation.diagnosis import BAD, GOOD, WARNING, findings
from engagements.management.translated import TranslatedCommand


class Command(TranslatedCommand):
    help = ("Checks database, broker, storage, worker, fonts, clocks, keys, disk, mail, nodes and "
            "certificate; exit status 1 where something does not work.")
    requires_system_checks = ()

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("--wait", type=int, default=0, metavar="SECONDS",
                            help="after a start: until everything works, so long at most")

    def handle(self, *args, wait: int, **options):
        deadline = time.monotonic() + wait
        while time.monotonic() < deadline and any(row.state == BAD for row in findings()):
            time.sleep(2)
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
