"""Writes the verifier of evidence bundles for people without an installation: a file or a wheel."""

import base64
import hashlib
import tempfile
import zipfile
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

from bundle_verifier.translation import CATALOGUE
from delivery.evidence.verifier_file import NAME as VERIFIER
from delivery.evidence.verifier_file import START, lay_out, verifier_file

USES = ("pyhanko", "openpyxl", "defusedxml", "numpy")  # the wheel brings them
NAME, VERSION = "delivery_desk_verify", "1.3"
WHEEL = f"{NAME}-{VERSION}-py3-none-any.whl"


class Command(BaseCommand):
    help = (f"Writes the verifier as one .pyz file, or as a wheel if the name is {WHEEL}. "
            "The file runs with any Python 3.11: python verify.pyz BUNDLE; signatures and seals "
            "are checked where it has pyhanko, workbooks where it has openpyxl, large logs faster "
            "with numpy. The wheel brings them and the command desk-verify.")
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
                write_wheel(out, Path(folder))
        else:
            out.write_bytes(verifier_file())
        self.stdout.write(f"{out} ({out.stat().st_size // 1024} KB)")
        if not (Path(settings.BASE_DIR) / CATALOGUE).is_file():
            self.stdout.write(_("English only: the translations are not compiled."))
        if out.suffix == ".whl":
            self.stdout.write(f"pip install {out}; desk-verify <bundle.zip>")
        else:
            self.stdout.write(f"python {out} <bundle.zip>")


def write_wheel(out: Path, folder: Path) -> None:
    """The folder as a wheel (packaging.python.org, “Binary distribution format”)."""
    about = folder / f"{NAME}-{VERSION}.dist-info"
    about.mkdir()
    needs = "".join(f"Requires-Dist: {name}\n" for name in USES)
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\n"
        f"Requires-Python: >=3.11\n{needs}")
    (about / "WHEEL").write_text(
        "Wheel-Version: 1.0\nGenerator: manage.py verifier\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n")
    (about / "entry_points.txt").write_text(f"[console_scripts]\ndesk-verify = {START}\n")
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    names = [path.relative_to(folder).as_posix() for path in paths]
    record = f"{about.name}/RECORD"
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, name in zip(paths, names, strict=True):
            wheel.write(path, name)
        wheel.writestr(record, "".join(
            f"{name},sha256={_record_digest(path)},{path.stat().st_size}\n"
            for path, name in zip(paths, names, strict=True)) + f"{record},,\n")


def _record_digest(path: Path) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).decode().rstrip("=")
