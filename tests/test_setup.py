"""`./desk setup` beside several data folders, and a DATABASE_URL that cannot be used."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import TESTS

ROOT = TESTS.parent
# Stands in for the virtual environment's Python: it only notes what it was asked for.
PYTHON = """#!/bin/sh
echo "$*" >> calls
"""


@pytest.fixture
def checkout(tmp_path) -> Path:
    """A folder with the entry script, its inputs, and an environment that installs nothing."""
    folder = tmp_path / "checkout"
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / "desk").write_bytes((ROOT / "desk").read_bytes())
    for name in ("requirements.txt", "package.json", "package-lock.json"):
        (folder / name).write_text(name)
    for made in ("static/vendor", "locale/en/LC_MESSAGES", "node_modules"):
        (folder / made).mkdir(parents=True)
    _program(folder / ".venv" / "bin" / "python", PYTHON)
    _program(tmp_path / "programs" / "dpkg-query", "#!/bin/sh\necho install ok installed\n")
    return folder


def _program(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


def _set_up(checkout: Path, data: Path) -> list[str]:
    """What `./desk setup` asked of Python."""
    (checkout / "calls").write_text("")
    subprocess.run(["sh", "desk", "setup"], cwd=checkout, check=True, capture_output=True, env={
        "PATH": f"{checkout.parent / 'programs'}:{os.environ['PATH']}", "DESK_VAR_DIR": str(data)})
    return (checkout / "calls").read_text().splitlines()


def test_another_data_folder_installs_nothing_anew(checkout, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    calls = _set_up(checkout, first)
    for installs in ("pip install", "assets", "compilemessages", "collectstatic"):
        assert [call for call in calls if installs in call] != [], installs

    calls = _set_up(checkout, second)

    assert not [c for c in calls if "pip install" in c or "assets" in c or "compile" in c]
    assert [c for c in calls if "collectstatic" in c]  # static files are in the data folder
    (checkout / "requirements.txt").write_text("another")
    assert [c for c in _set_up(checkout, second) if "pip install" in c]


@pytest.mark.parametrize(("url", "sentence"), [
    ("", "DATABASE_URL is empty."),
    ("nonsense-secret", "DATABASE_URL names no SQLite file and no PostgreSQL database."),
    ("mysql://desk:secret@host/name", "no PostgreSQL database"),
    ("postgresql://desk:secret@host/", "no PostgreSQL database"),
    ("sqlite://", "no SQLite file"),
])
def test_wrong_database_address_gets_a_sentence(url, sentence):
    answer = subprocess.run([sys.executable, "manage.py", "check"], cwd=ROOT, capture_output=True,
                            text=True, check=False, env={**os.environ, "DATABASE_URL": url})

    assert answer.returncode == 1
    assert sentence in answer.stderr
    assert "Traceback" not in answer.stderr
    assert "secret" not in answer.stderr
    assert len(answer.stderr.splitlines()) == 1
