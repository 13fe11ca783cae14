"""Compares the installed packages with known vulnerabilities."""

from pathlib import Path

from django.conf import settings
from django.core.management.base import CommandError
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from delivery.operation import package_audit
from engagements.errors import DeskError
from engagements.management.translated import TranslatedCommand


class Command(TranslatedCommand):
    help = ("Which installed Python packages and front-end packages have known vulnerabilities; "
            "exit status 1 where one has, or where that could not be found out.")

    def add_arguments(self, parser):
        super().add_arguments(parser)
        parser.add_argument("--advisories", type=Path,
                            help="a folder of advisories (OSV schema) instead of the databases of "
                                 "the package indexes")

    def handle(self, *args, advisories: Path | None, **options):
        try:
            found, unasked = self._look(advisories)
        except DeskError as error:
            raise CommandError(error.message) from error
        for row in found:
            self.stdout.write(self.style.ERROR(
                f"{row.package}: {row.identifier} {row.summary}".rstrip()))
        for cause in unasked:
            self.stderr.write(_("Not checked: %(cause)s.") % {"cause": cause})
        if unasked:
            raise CommandError(_("Whether packages have known vulnerabilities is not known. "
                                 "Repeat where the databases are reached, or with --advisories "
                                 "FOLDER."))
        if found:
            raise CommandError(ngettext("%(n)d vulnerability is known.",
                                        "%(n)d vulnerabilities are known.", len(found))
                               % {"n": len(found)})
        self.stdout.write(_("No vulnerability is known."))

    def _look(self, advisories: Path | None):
        if not advisories:
            return package_audit.ask_databases(settings.BASE_DIR)
        packages = [*package_audit.python_packages(),
                    *package_audit.front_end_packages(settings.BASE_DIR)]
        found, count = package_audit.compare(packages, advisories)
        self.stdout.write(_("Packages compared: %(packages)d; advisories: %(advisories)d.") % {
            "packages": len(packages), "advisories": count})
        return found, []
