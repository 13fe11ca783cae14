"""Writes the verifier of evidence bundles for people without an installation: a file or a wheel."""

import ast
import base64
import hashlib
import tempfile
import zipapp
import zipfile
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils.translation import gettext as _

START = "delivery.evidence.verification.offline_verifier"
OWN = ("delivery", "assessments", "workers", "engagements", "toolreaders")
READERS = "toolreaders"  # found by looking into their folder, not by import
NEEDS = ("Django", "numpy", "pyhanko", "defusedxml", "openpyxl")
CATALOGUE = Path("locale/zh_Hans/LC_MESSAGES/django.mo")
NAME, VERSION = "delivery_desk_verify", "1.2"
WHEEL = f"{NAME}-{VERSION}-py3-none-any.whl"


class Command(BaseCommand):
    help = (f"Writes the verifier as one .pyz file, or as a wheel if the name is {WHEEL}. "
            f"The file runs with any Python 3.11 that has {', '.join(NEEDS)}: "
            "python verify.pyz BUNDLE; the wheel brings them and the command desk-verify.")
    requires_system_checks = ()
    requires_migrations_checks = False

    def add_arguments(self, parser):
        parser.add_argument("out", type=Path, nargs="?", default=Path("verify.pyz"))

    def handle(self, *args, out: Path, **options):
        if out.suffix == ".whl" and out.name != WHEEL:
            raise CommandError(_("The name of a wheel is its own: %(name)s") % {"name": WHEEL})
        base = Path(settings.BASE_DIR)
        names = needed_modules(base)
        with tempfile.TemporaryDirectory() as folder:
            lay_out(Path(folder), base, names)
            (write_wheel if out.suffix == ".whl" else write_file)(out, Path(folder))
        self.stdout.write(f"{out} ({len(names)} modules, {out.stat().st_size // 1024} KB)")
        if not (base / CATALOGUE).is_file():
            self.stdout.write(_("English only: the translations are not compiled."))
        if out.suffix == ".whl":
            self.stdout.write(f"pip install {out}; desk-verify <bundle.zip>")
        else:
            self.stdout.write(f"pip install {' '.join(NEEDS)}; python {out} <bundle.zip>")


def needed_modules(base: Path) -> list[str]:
    """Paths of our own modules that the verifier imports, directly or not."""
    found: set[str] = set()
    readers = (path.relative_to(base).with_suffix("") for path in (base / READERS).rglob("*.py"))
    waiting = [START, *(".".join(path.parts).removesuffix(".__init__") for path in readers)]
    while waiting:
        path = _file(base, waiting.pop())
        if path and path not in found:
            found.add(path)
            waiting += _imports(base / path)
    return sorted(found)


def _file(base: Path, name: str) -> str | None:
    """Where a module lies, if it is ours; a package is its __init__."""
    if name.partition(".")[0] not in OWN:
        return None
    stem = name.replace(".", "/")
    return next((path for path in (f"{stem}.py", f"{stem}/__init__.py")
                 if (base / path).is_file()), None)


def _imports(path: Path) -> list[str]:
    names = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{one.name}" for one in node.names)]
        elif isinstance(node, ast.Import):
            names += [one.name for one in node.names]
    return names


def lay_out(folder: Path, base: Path, names: list[str]) -> None:
    """The modules and the Chinese catalogue; packages that only hold modules together are empty."""
    for name in names:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((base / name).read_bytes())
    for place in {Path(name).parent for name in names}:
        for package in (place, *place.parents):
            if package != Path("."):
                (folder / package / "__init__.py").touch()
    if (base / CATALOGUE).is_file():
        target = folder / START.partition(".")[0] / CATALOGUE
        target.parent.mkdir(parents=True)
        target.write_bytes((base / CATALOGUE).read_bytes())


def write_file(out: Path, folder: Path) -> None:
    zipapp.create_archive(folder, out, main=f"{START}:run", compressed=True)


def write_wheel(out: Path, folder: Path) -> None:
    """The folder as a wheel (packaging.python.org, “Binary distribution format”)."""
    about = folder / f"{NAME}-{VERSION}.dist-info"
    about.mkdir()
    needs = "".join(f"Requires-Dist: {name}\n" for name in NEEDS)
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {NAME}\nVersion: {VERSION}\n"
        f"Requires-Python: >=3.11\n{needs}")
    (about / "WHEEL").write_text(
        "Wheel-Version: 1.0\nGenerator: manage.py verifier\nRoot-Is-Purelib: true\n"
        "Tag: py3-none-any\n")
    (about / "entry_points.txt").write_text(f"[console_scripts]\ndesk-verify = {START}:run\n")
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
