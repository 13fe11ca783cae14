"""Backup and restore: hashes, increments, keys apart, and whole installations on both databases."""

import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest
from django.conf import settings as django_settings
from django.core.files.base import ContentFile
from django.db import connection
from django.utils.translation import override

from delivery.operation.backup import keys as key_files
from delivery.operation.backup.restoring import check_backup, chosen_backup
from delivery.operation.backup.writing import listed, remove_old, snapshot, write_backup
from engagements.errors import InvalidInput
from workers.artifacts.artifact_store import store_file
from workers.models import Artifact, Node

PASSPHRASE = "correct horse battery"
ENGLISH = ("--language", "en")
SOURCE = """
import django; django.setup()
from django.core.files.base import ContentFile
from django.core.management import call_command
call_command("migrate", verbosity=0)
from delivery.demo.sample_engagement import load_sample
from workers.artifacts.artifact_store import store_file
from workers.models import Node
engagement = load_sample()
store_file(stream=ContentFile("日志".encode()), name="日志.log", engagement=engagement)
Node.objects.create(name="n", host="h", username="u", private_key="SECRET KEY OF A NODE")
from datetime import timedelta
from django.utils import timezone
from delivery.operation.audit_archiving import archive_old
engagement.state = "closed"
engagement.save()
assert list(archive_old(now=timezone.now() + timedelta(days=90), days=1))
"""


@pytest.fixture
def stored(engagement):
    return store_file(stream=ContentFile(b"x" * 1000), name="a.txt", engagement=engagement)


def test_a_second_backup_copies_only_what_is_new(stored, engagement, tmp_path):
    root = tmp_path / "backup"
    first = write_backup(root)
    store_file(stream=ContentFile(b"y" * 500), name="b.txt", engagement=engagement)
    remove_draft = first.folder.rename(first.folder.with_name("20200101T000000Z"))
    second = write_backup(root)
    assert (first.files, first.copied, first.copied_bytes) == (1, 1, 1000)
    assert (second.files, second.copied, second.copied_bytes) == (2, 1, 500)
    assert first.faults == second.faults == []
    checked = check_backup(root, chosen_backup(root))
    assert (checked.files, checked.faults, checked.is_sealed) == (2, [], True)
    assert chosen_backup(root, remove_draft.name) == remove_draft
    Artifact.objects.filter(pk=stored.pk).delete()
    assert remove_old(root, keep=1) == 1
    assert check_backup(root, chosen_backup(root)).faults == []


def test_missing_and_changed_files_are_named_and_the_rest_is_saved(stored, engagement, tmp_path,
                                                                   settings):
    gone = store_file(stream=ContentFile(b"z"), name="c.txt", engagement=engagement)
    Path(settings.MEDIA_ROOT, gone.file.name).unlink()
    Path(settings.MEDIA_ROOT, stored.file.name).write_bytes(b"rotten")
    outcome = write_backup(tmp_path / "backup")
    assert outcome.files == 1
    assert {fault.facts["name"]: fault.code for fault in outcome.faults} == {
        gone.file.name: "unreadable", stored.file.name: "other_hash"}


@pytest.mark.parametrize("language", ["zh-hans", "en"])
def test_a_manifest_names_faults_by_code_whatever_the_language(stored, tmp_path, settings,
                                                               language):
    Path(settings.MEDIA_ROOT, stored.file.name).write_bytes(b"rotten")
    with override(language):
        folder = write_backup(tmp_path / "backup").folder
    [fault] = json.loads((folder / "manifest.json").read_text())["faults"]
    assert fault == {"code": "other_hash", "name": stored.file.name, "stated": stored.sha256,
                     "found": hashlib.sha256(b"rotten").hexdigest()}


@pytest.mark.parametrize("what", ["file", "rows", "manifest"])
def test_damage_to_a_backup_is_found(stored, tmp_path, what):
    root = tmp_path / "backup"
    folder = write_backup(root).folder
    [(_kind, _name, digest, _size)] = listed(folder)
    place = {"file": root / "files" / digest[:2] / digest, "rows": folder / "database.jsonl.gz",
             "manifest": folder / "manifest.json"}[what]
    data = place.read_bytes()
    place.write_bytes(data.replace(b'"files": 1', b'"files": 2') if what == "manifest"
                      else bytes([data[0] ^ 1]) + data[1:])
    checked = check_backup(root, folder)
    assert len(checked.faults) == 1
    assert checked.is_sealed == (what != "manifest")


def test_the_keys_open_with_their_passphrase_only(tmp_path, settings):
    settings.SECRET_KEY, settings.AUDIT_KEY = "the secret", "the audit key"
    file, folder = tmp_path / "keys", tmp_path / "new"
    with pytest.raises(InvalidInput):
        key_files.write_keys(file, "short")
    key_files.write_keys(file, PASSPHRASE)
    assert file.stat().st_mode & 0o777 == 0o600
    assert "the secret" not in file.read_text()
    with pytest.raises(InvalidInput):
        key_files.read_keys(file, "another passphrase")
    key_files.put_keys(key_files.read_keys(file, PASSPHRASE), folder)
    assert (folder / "secret-key").read_text() == "the secret"
    (folder / "audit-key").write_text("of another installation")
    with pytest.raises(InvalidInput):
        key_files.put_keys(key_files.read_keys(file, PASSPHRASE), folder)


def test_credentials_of_nodes_stay_encrypted_in_a_backup(db, tmp_path):
    Node.objects.create(name="n", host="h", username="u", private_key="PRIVATE")
    folder = write_backup(tmp_path / "backup").folder
    lines = gzip.decompress((folder / "database.jsonl.gz").read_bytes()).decode()
    assert "PRIVATE" not in lines
    assert '"host": "h"' in lines


def run(environment: dict, *command: str, status: int = 0) -> str:
    done = subprocess.run([sys.executable, *command], cwd=django_settings.BASE_DIR, timeout=900,
                          env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.django_db
def test_a_lost_installation_comes_back_on_the_suite_s_database(empty_database, migrated_file,
                                                               tmp_path):
    """From SQLite to the database that the suite runs on; its first backup is written while
    another connection keeps writing."""
    place = {"DJANGO_SETTINGS_MODULE": "delivery.settings", "PYTHONPATH": str(Path.cwd()),
             "DESK_BACKUP_PASSPHRASE": PASSPHRASE,
             **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}}
    old = {**place, "DESK_VAR_DIR": str(tmp_path / "old")}
    root, keys = str(tmp_path / "backup"), str(tmp_path / "keys")
    (tmp_path / "old").mkdir(mode=0o700)
    shutil.copy(migrated_file, tmp_path / "old" / "desk.sqlite3")
    run(old, "-c", SOURCE)
    first = run(old, "manage.py", "backup", root, "--keys", keys, *ENGLISH)
    second = run(old, "manage.py", "backup", root, *ENGLISH)
    assert ", of them 0 new" not in first
    assert ", of them 0 new" in second
    assert "sealed by this installation: yes" in run(old, "manage.py", "backup", root, "--check",
                                                     *ENGLISH)

    new = {**empty_database, **place, "DESK_VAR_DIR": str(tmp_path / "new")}
    new.pop("DESK_AUDIT_KEY", None)
    if connection.vendor == "sqlite":
        new.pop("DATABASE_URL", None)
    assert "restore_keys" in run(new, "manage.py", "restore", root, status=1)
    run(new, "manage.py", "restore_keys", keys, "--replace")
    told = run(new, "manage.py", "restore", root, *ENGLISH)
    assert "hashes, audit log and rows are good" in told
    rows = re.search(r": (\d+) rows", second).group(1)
    assert f": {rows} rows" in told
    assert "not empty" in run(new, "manage.py", "restore", root, *ENGLISH, status=1)
    assert "entries" in run(new, "manage.py", "verify", "--audit", *ENGLISH)
    assert "audit/audit-" in run(new, "-c", (
        "import django; django.setup(); from engagements.models import AuditArchive;"
        "print(AuditArchive.objects.get())"))
    assert "SECRET KEY OF A NODE" in run(new, "-c", (
        "import django; django.setup(); from workers.models import Node;"
        "print(Node.objects.get(name='n').private_key)"))


@pytest.mark.django_db(transaction=True)
def test_a_backup_sees_one_moment_and_keeps_nobody_from_writing():
    def write() -> None:
        Node.objects.create(name="later", host="h", username="u")
        connection.close()

    with snapshot():
        assert Node.objects.count() == 0
        writer = Thread(target=write)
        writer.start()
        writer.join(10)
        assert not writer.is_alive()
        assert Node.objects.count() == 0
    assert Node.objects.count() == 1
