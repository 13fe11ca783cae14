"""A database of version 1.0.0 is migrated to today's, and the audit log still holds for it."""

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

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


@pytest.fixture
def empty_database(tmp_path):
    """The environment of a process that works on a new database of the suite's kind."""
    env = {**os.environ, "DESK_VAR_DIR": str(tmp_path), "DESK_AUDIT_KEY": "upgrade-test",
           "DJANGO_SETTINGS_MODULE": "delivery.settings", "PYTHONPATH": str(settings.BASE_DIR)}
    if connection.vendor == "sqlite":
        yield {**env, "DATABASE_URL": f"sqlite:///{tmp_path / 'upgrade.sqlite3'}"}
        return
    name, known = f"upgrade_{os.getpid()}", connection.settings_dict
    with connection._nodb_cursor() as cursor:
        cursor.execute(f"create database {name}")
    try:
        password = f":{known['PASSWORD']}" if known["PASSWORD"] else ""
        yield {**env, "DATABASE_URL": f"postgresql://{known['USER']}{password}@{known['HOST']}:"
                                      f"{known['PORT'] or 5432}/{name}"}
    finally:
        with connection._nodb_cursor() as cursor:
            cursor.execute(f"drop database {name}")


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
