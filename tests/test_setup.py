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


@pytest.mark.slow
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


SETTINGS = """# a comment
DESK_VAR_DIR=/nowhere/data
DESK_PUBLIC_URL="https://desk.example.com"
DESK_SECRET_KEY='a $HOME `id` "b"'
DESK_EMAIL_HOST=
DESK_HOST=file
DATABASE_URL=postgresql://desk:p=w#1@127.0.0.1/desk
"""


def _of_installation(checkout: Path, settings: str, *words: str, **more) -> tuple[int, str, str]:
    """An operator's command with the settings in a file; its Python prints them."""
    (checkout.parent / "desk.env").write_text(settings)
    _program(checkout / ".venv" / "bin" / "python", "#!/bin/sh\necho \"$*\"\nenv\n")
    done = subprocess.run(["sh", "desk", *words], cwd=checkout, check=False, capture_output=True,
                          text=True, env={"PATH": os.environ["PATH"], **more,
                                          "DESK_ENV_FILE": str(checkout.parent / "desk.env")})
    return done.returncode, done.stdout, done.stderr


def test_operators_commands_load_the_settings_of_the_installation(checkout):
    status, shown, _errors = _of_installation(checkout, SETTINGS, "rotate-keys", "audit",
                                              DESK_HOST="typed")
    lines = shown.splitlines()
    assert (status, lines[0]) == (0, "manage.py rotate_keys audit")
    assert {"DESK_VAR_DIR=/nowhere/data", "DESK_PUBLIC_URL=https://desk.example.com",
            "DESK_SECRET_KEY=a $HOME `id` \"b\"", "DESK_EMAIL_HOST=", "DESK_HOST=typed",
            "DATABASE_URL=postgresql://desk:p=w#1@127.0.0.1/desk"} <= set(lines)
    for words, asked in ((["doctor", "--language", "en"], "manage.py doctor --language en"),
                         (["backup", "--keep", "3"],
                          "manage.py backup /var/backups/delivery-desk --keep 3"),
                         (["manage", "verify", "--audit"], "manage.py verify --audit")):
        assert _of_installation(checkout, SETTINGS, *words)[1].splitlines()[0] == asked


@pytest.mark.parametrize("line", ["export A=1", "A-B=1", "$(id)", "=1", "1A=2"])
def test_a_line_that_is_no_setting_is_refused_and_not_run(checkout, line):
    status, shown, errors = _of_installation(checkout, f"{line}\n", "doctor")
    assert (status, shown) == (1, "")
    assert "no NAME=value" in errors or "no name of a variable" in errors


def test_a_checkout_of_its_own_loads_none(checkout):
    assert "DESK_PUBLIC_URL" not in _of_installation(checkout, SETTINGS, "trace")[1]


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
