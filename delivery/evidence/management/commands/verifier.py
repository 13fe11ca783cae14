"""Writes the verifier of evidence bundles for people without an installation: a file or a wheel."""

import tempfile
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from bundle_verifier.translation import CATALOGUE
from delivery.evidence.verifier_file import NAME as VERIFIER
from delivery.evidence.verifier_file import lay_out, verifier_file
from workers.wheels import wheel_name, write_wheel

START = "bundle_verifier.command_line:run"
USES = ("pyhanko",)  # the wheel brings it
NAME, VERSION = "delivery_desk_verify", "1.3"
WHEEL = wheel_name(NAME, VERSION)


class Command(BaseCommand):
    help = (f"Writes the verifier as one .pyz file, or as a wheel if the name is {WHEEL}. "
            "The file runs with any Python 3.11: python verify.pyz BUNDLE; signatures and seals "
            "are checked where it has pyhanko. "
            "The wheel brings it and the command desk-verify.")
    requires_system_checks = ()
    requires_migrations_checks = False

    def add_arguments(self, parser):
        parser.add_argument("out", type=Path, nargs="?", default=Path(VERIFIER))

    def handle(self, *args, out: Path, **options):
        if out.suffix == ".whl" and out.name != WHEEL:
            raise CommandError(_("The name of a wheel is its own: %(name)s") % {"name": WHEEL})
        if out.suffix == ".whl":
            with tempfile.TemporaryDirectory() as folder:
                lay_out(Path(folder))
                write_wheel(out, Path(folder), name=NAME, version=VERSION,
                            script=f"desk-verify = {START}", requirements=USES)
        else:
            out.write_bytes(verifier_file())
        self.stdout.write(f"{out} ({out.stat().st_size // 1024} KB)")
        if not (Path(settings.BASE_DIR) / CATALOGUE).is_file():
            self.stdout.write(_("English only: the translations are not compiled."))
        if out.suffix == ".whl":
            self.stdout.write(f"pip install {out}; desk-verify <bundle.zip>")
        else:
            self.stdout.write(f"python {out} <bundle.zip>")
