"""Write the readers as a wheel, for machines without the desk."""

import shutil
import tempfile
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand

from workers.wheels import wheel_name, write_wheel

NAME, VERSION = "toolreaders", "1.1.0"
WHEEL = wheel_name(NAME, VERSION)


class Command(BaseCommand):
    help = "Write the package toolreaders as a wheel; it needs nothing but Python 3.11."
    requires_system_checks = ()

    def add_arguments(self, parser):
        parser.add_argument("folder", type=Path, nargs="?", default=Path())

    def handle(self, *args, folder: Path, **options):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as place:
            shutil.copytree(settings.BASE_DIR / NAME, Path(place) / NAME,
                            ignore=shutil.ignore_patterns("__pycache__"))
            write_wheel(
                folder / WHEEL, Path(place), name=NAME, version=VERSION,
                script=f"{NAME} = {NAME}.command_line:main")
        self.stdout.write(f"pip install {folder / WHEEL}")
