"""Says what is missing in this installation, and what to do."""

from django.core.management.base import BaseCommand, CommandError

from delivery.operation.diagnosis import BAD, GOOD, WARNING, findings


class Command(BaseCommand):
    help = ("Checks database, broker, storage, worker, fonts, clocks, keys, disk, mail, nodes and "
            "certificate; exit status 1 where something does not work.")
    requires_system_checks = ()

    def handle(self, *args, **options):
        marks = {GOOD: self.style.SUCCESS("ok     "), WARNING: self.style.WARNING("look   "),
                 BAD: self.style.ERROR("BROKEN ")}
        found = []
        for finding in findings():
            found.append(finding)
            self.stdout.write(f"{marks[finding.state]} {finding.subject}: {finding.sentence}")
        broken = sum(finding.state == BAD for finding in found)
        if broken:
            raise CommandError(f"{broken} of {len(found)} things do not work.")
