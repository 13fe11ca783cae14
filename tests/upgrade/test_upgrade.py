"""A database of version 1.0.0 is migrated to today's, and the audit log still holds for it."""

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from django.conf import settings

HERE = Path(__file__).parent
RELEASED = json.loads((HERE / "released_migrations.json").read_text())
PREPARE = """
import django; django.setup()
from pathlib import Path
from django.conf import settings
from delivery.operation.backup.database_dump import load
load(Path("tests/upgrade/1.0.0.jsonl.gz"))
"""


@pytest.mark.parametrize("name", RELEASED)
def test_a_released_migration_never_changes(name):
    path = Path(settings.BASE_DIR) / name
    assert sha256(path.read_bytes()).hexdigest() == RELEASED[name], (
        "released: add a new migration instead")


@pytest.mark.slow
@pytest.mark.django_db
def test_upgrade_from_1_0_0(empty_database):
    def run(*command: str) -> str:
        done = subprocess.run([sys.executable, *command], cwd=settings.BASE_DIR, timeout=900,
                              env=empty_database, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
        return done.stdout

    run("-c", PREPARE)
    run("manage.py", "migrate", "--verbosity", "0")
    assert "[  ]" not in run("manage.py", "showmigrations", "--plan").replace("[ ]", "[  ]")
    run("manage.py", "verify", "--audit")
