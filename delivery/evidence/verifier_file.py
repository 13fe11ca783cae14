"""The verifier as one file that runs on any Python 3.11: `python verify.pyz BUNDLE`."""

import io
import shutil
import tempfile
import zipapp
from functools import cache
from pathlib import Path

from django.conf import settings

from bundle_verifier.translation import CATALOGUE

NAME = "verify.pyz"
MAIN = """import sys

if sys.version_info < (3, 11):
    sys.exit("Python 3.11 or later is needed / 需要 Python 3.11 或更高版本")

from bundle_verifier.command_line import run

run()
"""
PACKAGES = ("bundle_verifier", "toolreaders")


@cache
def verifier_file() -> bytes:
    """The file's content; the same for everybody until another release is installed."""
    target = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        lay_out(Path(folder))
        (Path(folder) / "__main__.py").write_text(MAIN, "utf-8")
        zipapp.create_archive(folder, target, compressed=True)
    return target.getvalue()


def lay_out(folder: Path) -> None:
    """Put the packages of the verifier and the Chinese catalogue, if compiled, into the folder."""
    base = Path(settings.BASE_DIR)
    for name in PACKAGES:
        shutil.copytree(base / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    if (base / CATALOGUE).is_file():
        target = folder / "bundle_verifier" / CATALOGUE
        target.parent.mkdir(parents=True)
        shutil.copy(base / CATALOGUE, target)
