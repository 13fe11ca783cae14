"""Writes the verifier of evidence bundles as one file, for people without an installation."""

import ast
import tempfile
import zipapp
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand

START = "delivery.acceptance.offline"
OWN = ("delivery", "assessments", "workers", "engagements")
READERS = "workers/readers"  # found by looking into their folder, not by import
NEEDS = ("Django", "numpy", "pyhanko", "defusedxml", "openpyxl")


class Command(BaseCommand):
    help = ("Writes the verifier as one .pyz file. It runs with any Python 3.11 that has "
            f"{', '.join(NEEDS)}: python verify.pyz BUNDLE")
    requires_system_checks = ()
    requires_migrations_checks = False

    def add_arguments(self, parser):
        parser.add_argument("out", type=Path, nargs="?", default=Path("verify.pyz"))

    def handle(self, *args, out: Path, **options):
        names = needed_modules(Path(settings.BASE_DIR))
        write_verifier(out, Path(settings.BASE_DIR), names)
        self.stdout.write(f"{out} ({len(names)} modules, {out.stat().st_size // 1024} KB)")
        self.stdout.write(f"pip install {' '.join(NEEDS)}; python {out} <bundle.zip>")


def needed_modules(base: Path) -> list[str]:
    """Paths of our own modules that the verifier imports, directly or not."""
    found: set[str] = set()
    waiting = [START, *(f"workers.readers.{path.stem}" for path in (base / READERS).glob("*.py"))]
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


def write_verifier(out: Path, base: Path, names: list[str]) -> None:
    """The modules as a zipapp; packages that only hold them together stay empty."""
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            target = Path(folder) / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((base / name).read_bytes())
        for place in {Path(name).parent for name in names}:
            for package in (place, *place.parents):
                if package != Path("."):
                    (Path(folder) / package / "__init__.py").touch()
        zipapp.create_archive(folder, out, main=f"{START}:run", compressed=True)
