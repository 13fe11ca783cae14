"""Papers rendered in two processes that differ in all that must not matter."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

from django.conf import settings

PROGRAM = Path(__file__).with_name("render_program.py")
PLACES = {
    "0": {"PYTHONHASHSEED": "1", "TZ": "Pacific/Auckland", "LC_ALL": "C.UTF-8", "LANG": "C"},
    "403.7": {"PYTHONHASHSEED": "4711", "TZ": "America/Los_Angeles", "LC_ALL": "C",
              "LANGUAGE": "zh_CN", "LANG": "zh_CN.UTF-8"}}  # by days from now


def same_everywhere(folder: Path, documents: list[tuple]) -> dict[str, str]:
    """"name language format" to SHA-256; fails where a file differs. Both render side by side.

    Args:
        folder: an empty one for what is kept.
        documents: ("document", snapshot), ("quote", snapshot), or ("page", arguments of
            `render_pdf`).
    """
    frozen = folder / "documents"
    frozen.write_bytes(pickle.dumps(documents))
    running = [begun(frozen, days, place) for days, place in PLACES.items()]
    first, second = (answered(process) for process in running)
    assert first == second
    return first


def begun(frozen: Path, days: str, place: dict[str, str]) -> subprocess.Popen:
    environment = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), str(frozen), days, str(frozen.parent / f"apart-{days}")],
        text=True, stdout=subprocess.PIPE, cwd=settings.BASE_DIR,
        env={**environment, "PYTHONPATH": str(settings.BASE_DIR), **place})


def answered(process: subprocess.Popen) -> dict[str, str]:
    output, _none = process.communicate()
    assert process.returncode == 0
    return dict(line.rsplit(" ", 1) for line in output.splitlines())
