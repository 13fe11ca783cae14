"""Backup and restore: hashes, increments, keys apart, and whole installations on both databases."""

import base64
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from datetime import timedelta
from itertools import count
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    pkcs12,
)
from django.conf import settings as django_settings
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone
from django.utils.translation import override

from bundle_verifier.signatures.certificates import facts_of
from delivery.acceptance.signing.seals import trial
from delivery.acceptance.signing.seals.certificate import load_signer
from delivery.operation.backup import keys as key_files
from delivery.operation.backup import restoring, writing
from delivery.operation.backup.restoring import Checked, check_backup, chosen_backup
from delivery.operation.backup.writing import listed, remove_old, snapshot, write_backup
from delivery.operation.secret_files import secret_files
from engagements.audit import audit_log, checkpoint, end_sealing, published_heads
from engagements.audit.checkpoint import Checkpoint
from engagements.errors import InvalidInput
from engagements.models import AuditEntry
from tests.engagements.audit.test_chain_end import as_older_version
from workers.artifacts.artifact_store import store_file
from workers.models import Artifact, Node

PASSPHRASE = "correct horse battery"
ENGLISH = ("--language", "en")
SOURCE = """
import django; django.setup()
from django.core.files.base import ContentFile
from django.core.management import call_command
call_command("migrate", verbosity=0)
from delivery.demo.sample_setup import load_sample
from workers.artifacts.artifact_store import store_file
from workers.models import Node
engagement = load_sample()
store_file(stream=ContentFile("日志".encode()), name="日志.log", engagement=engagement)
Node.objects.create(name="n", host="h", username="u", private_key="SECRET KEY OF A NODE",
                    cards_total=8)
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


@pytest.mark.slow
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


MADE = """
import django; django.setup()
from pathlib import Path
from django.conf import settings
from delivery.acceptance.signing.seals.practice_certificate import practice_certificate
from delivery.operation import key_rotation
from practice_node.server import stored_key
root = Path(settings.VAR_DIR)
practice_certificate()
key_rotation.new_secret_key(), key_rotation.new_audit_key()
for name in ("host_key", "client_key"):
    stored_key(root / "practice-node" / "keys" / name)
"""


@pytest.mark.slow
def test_every_secret_file_that_the_product_makes_is_declared(tmp_path):
    place = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    run({**place, "DJANGO_SETTINGS_MODULE": "delivery.settings", "PYTHONPATH": str(Path.cwd()),
         "DESK_VAR_DIR": str(tmp_path)}, "-c", MADE)
    made = [path for path in tmp_path.rglob("*") if path.is_file()
            and path.stat().st_mode & 0o077 == 0
            and path.relative_to(tmp_path).parts[0] not in ("cache", "queue")]
    assert len(made) == 8
    assert secret_files(tmp_path) == sorted(made)


@pytest.fixture
def restored_keys(settings, tmp_path):
    """Brings the keys into an empty folder, and answers what is left to set."""
    def bring() -> list[str]:
        key_files.write_keys(tmp_path / "keys", PASSPHRASE)
        settings.VAR_DIR = tmp_path / "new"
        for name in ("KEY", "KEY_PASSWORD", "CERTIFICATE"):
            setattr(settings, f"SIGNING_{name}", "")
        settings.SIGNING_CHAIN = []
        with override("en"):
            return key_files.put_keys(key_files.read_keys(tmp_path / "keys", PASSPHRASE),
                                      settings.VAR_DIR)
    return bring


@pytest.mark.slow
def test_restored_keys_seal_with_the_practice_certificate_as_before(
        practice_certificate_set, restored_keys):
    before = facts_of(load_signer().signing_cert)
    assert restored_keys() == []
    assert trial.seal_empty_page().certificate == before


@pytest.mark.slow
def test_restored_keys_bring_the_firm_s_key_with_password_and_chain(
        restored_keys, settings, tmp_path, practice_p12):
    key, certificate, _more = pkcs12.load_key_and_certificates(practice_p12, b"practice")
    for place, name, content in (
            ("a", "key.pem", key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8,
                                               BestAvailableEncryption(b"firm"))),
            ("a", "cert.pem", certificate.public_bytes(Encoding.PEM)),
            ("b", "cert.pem", certificate.public_bytes(Encoding.PEM) * 2)):
        (tmp_path / place).mkdir(exist_ok=True)
        (tmp_path / place / name).write_bytes(content)
    settings.SIGNING_KEY, settings.SIGNING_KEY_PASSWORD = str(tmp_path / "a/key.pem"), "firm"
    settings.SIGNING_CERTIFICATE = str(tmp_path / "a/cert.pem")
    settings.SIGNING_CHAIN = [str(tmp_path / "b/cert.pem")]
    settings.VAR_DIR = tmp_path / "var"
    before = facts_of(load_signer().signing_cert)
    left = restored_keys()
    signing = tmp_path / "new" / "signing"
    assert left == [f"Set DESK_SIGNING_CERTIFICATE={signing}/cert.pem",
                    f"Set DESK_SIGNING_CHAIN={signing}/2-cert.pem",
                    f"Set DESK_SIGNING_KEY={signing}/key.pem",
                    f"Set DESK_SIGNING_KEY_PASSWORD_FILE={signing}/key-password"]
    for line in left:
        name, value = line.removeprefix("Set DESK_").split("=")
        setattr(settings, name.removesuffix("_FILE"), [value] if name == "SIGNING_CHAIN" else
                Path(value).read_text() if name.endswith("_FILE") else value)
    assert trial.seal_empty_page().certificate == before


def test_a_key_in_a_security_module_is_said_to_stay_there(restored_keys, settings):
    settings.SIGNING_KEY = uri = "pkcs11:token=Firm;object=seal?module-path=/usr/lib/x.so"
    left = restored_keys()
    assert left[0] == f"Set DESK_SIGNING_KEY={uri}"
    assert "is in its security module" in left[1]


def test_keys_of_an_older_version_bring_no_certificate_that_nobody_can_open(
        practice_certificate_set, settings, tmp_path):
    content = (tmp_path / "signing" / "practice.p12").read_bytes()
    settings.VAR_DIR = tmp_path / "new"
    key_files.put_keys({"secret": "s", "audit": "a", "credentials": [], "signing_password": "",
                        "files": {"practice.p12": base64.b64encode(content).decode()}},
                       settings.VAR_DIR)
    assert [path.name for path in secret_files(settings.VAR_DIR)] == ["audit-key", "secret-key"]


def test_a_certificate_without_its_password_is_a_sentence_and_no_traceback(
        practice_certificate_set, tmp_path, caplog):
    (tmp_path / "signing" / "practice-password").unlink()
    with pytest.raises(CommandError, match=r"signing/practice\.p12"):
        call_command("certificate", "--try")
    assert caplog.records == []  # pyHanko would log a traceback


def test_credentials_of_nodes_stay_encrypted_in_a_backup(db, tmp_path):
    Node.objects.create(name="n", host="h", username="u", private_key="PRIVATE", cards_total=8)
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
    shown = run(new, "manage.py", "restore", root, *ENGLISH)
    assert "hashes, audit log and rows are good" in shown
    assert "A test document was sealed: PRACTICE" in shown
    assert "PAdES" in run(new, "manage.py", "certificate", "--try")
    rows = re.search(r": (\d+) rows", second).group(1)
    assert f": {rows} rows" in shown
    assert "not empty" in run(new, "manage.py", "restore", root, *ENGLISH, status=1)
    assert "entries" in run(new, "manage.py", "verify", "--audit", *ENGLISH)
    assert "audit/audit-" in run(new, "-c", (
        "import django; django.setup(); from engagements.models import AuditArchive;"
        "print(AuditArchive.objects.get())"))
    assert "SECRET KEY OF A NODE" in run(new, "-c", (
        "import django; django.setup(); from workers.models import Node;"
        "print(Node.objects.get(name='n').private_key)"))


def test_a_restore_says_what_this_installation_had_seen_and_the_backup_lacks(engagement):
    seen = Checkpoint(900, "f" * 64, "f" * 64, "2026-01-02T00:00:00+00:00")
    checkpoint.keep(seen)
    audit_log.record(actor=None, action="engagement.update", target=engagement)
    assert [found.problem for found in audit_log.findings()] == ["cut"]
    checked = Checked({}, is_sealed=True)
    restoring._check_log(checked)
    assert (checked.faults, checked.lost_after, list(audit_log.findings())) == ([], seen, [])


def test_a_backup_of_an_older_version_comes_back_where_its_log_was_sealed_since(engagement):
    """Somebody goes back from an upgrade; the file of what was seen since is still there."""
    audit_log.record(actor=None, action="engagement.update", target=engagement)
    as_older_version()
    seen = Checkpoint(900, "f" * 64, "f" * 64, "2026-01-02T00:00:00+00:00")
    checkpoint.keep(seen)
    checked = Checked({}, is_sealed=True)
    restoring._check_log(checked)
    assert (checked.faults, checked.lost_after, list(audit_log.findings())) == ([], seen, [])
    sealed, restored = AuditEntry.objects.order_by("pk").reverse()[:2][::-1]
    assert (sealed.action, restored.action, restored.data["seen"]) == (
        end_sealing.ACTION, published_heads.RESTORED, 900)


def test_what_a_walk_sees_during_a_backup_is_not_missed_in_it(engagement, tmp_path, monkeypatch):
    audit_log.record(actor=None, action="engagement.update", target=engagement)
    later = Checkpoint(900, "f" * 64, "f" * 64, "2026-01-02T00:00:00+00:00")
    monkeypatch.setattr(writing, "stored_files", lambda: checkpoint.keep(later) or iter(()))
    assert write_backup(tmp_path / "backup").faults == []


@pytest.mark.django_db(transaction=True)
def test_a_backup_sees_one_moment_and_keeps_nobody_from_writing():
    def write() -> None:
        Node.objects.create(name="later", host="h", username="u", cards_total=8)
        connection.close()

    with snapshot():
        assert Node.objects.count() == 0
        writer = Thread(target=write)
        writer.start()
        writer.join(10)
        assert not writer.is_alive()
        assert Node.objects.count() == 0
    assert Node.objects.count() == 1


@pytest.mark.slow
@pytest.mark.django_db
def test_two_backups_within_a_second_have_names_of_their_own(tmp_path, monkeypatch):
    began, clock = timezone.now().replace(microsecond=0), count()
    monkeypatch.setattr(writing, "timezone", SimpleNamespace(
        now=lambda: began + timedelta(seconds=next(clock) // 8)))
    first, second = (write_backup(tmp_path).folder for _time in range(2))
    assert first.is_dir()
    assert second.is_dir()
    assert (first.name, second.name) == tuple(
        moment.strftime("%Y%m%dT%H%M%SZ") for moment in (began, began + timedelta(seconds=1)))
