"""Databases of released versions are migrated to today's; what migrations write stands in the audit
log, whose end is sealed, and the log still holds for them."""

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from django.conf import settings

HERE = Path(__file__).parent
RELEASED = json.loads((HERE / "released_migrations.json").read_text())
LOAD = """
import django; django.setup()
from pathlib import Path
from delivery.operation.backup.database_dump import load
load(Path("tests/upgrade/{}.jsonl.gz"))
"""
PREPARE = LOAD.format("1.0.0") + """
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader
from engagements.audit.migrated_rows import update_rows
loader = MigrationLoader(connection)
apps = loader.project_state(list(loader.applied_migrations)).apps
read = apps.get_model("workers", "Artifact").objects.exclude(measurements=None)
with transaction.atomic():
    update_rows(apps, read.filter(is_practice=False), "practice.upload", is_practice=True)
"""
LOG = """
import django; django.setup()
from engagements.models import AuditChain, AuditEntry
print(AuditChain.objects.values(), [
    *AuditEntry.objects.filter(pk__gt=116).order_by("pk").values_list("action", "target_type")])
"""


@pytest.mark.parametrize("name", RELEASED)
def test_a_released_migration_never_changes(name):
    path = Path(settings.BASE_DIR) / name
    assert sha256(path.read_bytes()).hexdigest() == RELEASED[name], (
        "released: add a new migration instead")


@pytest.fixture
def run(empty_database):
    """Runs Python on an empty database; what it printed."""
    def go(*command: str) -> str:
        done = subprocess.run([sys.executable, *command], cwd=settings.BASE_DIR, timeout=900,
                              env=empty_database, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
        return done.stdout

    return go


@pytest.mark.slow
@pytest.mark.django_db
def test_upgrade_from_1_0_0(run):
    run("-c", PREPARE)
    run("manage.py", "migrate", "--verbosity", "0")
    assert "[ ]" not in run("manage.py", "showmigrations", "--plan")
    log = run("-c", LOG)
    assert str([("practice.upload", "workers.artifact"),
                ("practice.mark", "engagements.engagement"),
                ("cards.leases_recorded", "workers.cardlease"),
                ("practice.mark", "assessments.measurement"),
                ("practice.mark", "assessments.verdict"),
                ("purpose.declare", "workers.artifact"), ("purpose.declare", "workers.job"),
                ("stage.operation_added", "engagements.stagerecord"),
                ("stage.operation_added", "engagements.checklistitem"),
                ("audit.seal_end", "engagements.auditchain")]) in log
    run("manage.py", "migrate", "--verbosity", "0")
    assert run("-c", LOG) == log  # nothing is left to mark or to seal
    run("manage.py", "verify", "--audit")


@pytest.mark.slow
@pytest.mark.django_db
def test_upgrade_from_1_1_0(run):
    """The sample firm after `manage.py demo`; the log's end was sealed there."""
    run("-c", LOAD.format("1.1.0"))
    run("manage.py", "migrate", "--verbosity", "0")
    assert "[ ]" not in run("manage.py", "showmigrations", "--plan")
    run("manage.py", "verify", "--audit")
