"""Keys are replaced without losing what they guard, and not while somebody works with them."""

from pathlib import Path

import pytest
from cryptography.fernet import Fernet, InvalidToken
from django.core.management import CommandError, call_command
from django.db import connection

from delivery.operation import heartbeat
from engagements.audit import audit_log
from engagements.models import AuditEntry
from workers.models import Node


@pytest.fixture(autouse=True)
def kept_keys(db, settings, tmp_path, monkeypatch):
    """Keys in files, as a new installation has them; entries and a credential under them."""
    for name in ("DESK_SECRET_KEY", "DESK_AUDIT_KEY", "DESK_CREDENTIAL_KEYS"):
        monkeypatch.delenv(name, raising=False)
    settings.SECRET_KEY, settings.AUDIT_KEY = "old secret", "old audit key"
    settings.SECRET_KEY_FALLBACKS, settings.CREDENTIAL_KEYS = [], []
    settings.VAR_DIR = tmp_path
    (tmp_path / "secret-key").write_text("old secret")
    (tmp_path / "audit-key").write_text("old audit key")
    node = Node.objects.create(name="n", host="h", username="u", private_key="PRIVATE",
                               cards_total=8)
    for number in range(3):
        audit_log.record(actor=None, action="row.write", target=node, data={"n": number})


def stored() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT private_key FROM workers_node")
        return cursor.fetchone()[0]


def test_a_new_secret_key_keeps_credentials(settings, tmp_path):
    before = stored()
    call_command("rotate_keys", "secret")
    assert stored() != before
    settings.SECRET_KEY = (tmp_path / "secret-key").read_text()
    settings.SECRET_KEY_FALLBACKS = []
    assert settings.SECRET_KEY != "old secret"
    assert Node.objects.get().private_key == "PRIVATE"
    [retained] = tmp_path.glob("secret-key-until-*")
    assert retained.read_text() == "old secret"


def test_credentials_under_a_key_of_their_own_and_the_next(settings):
    keys = [Fernet.generate_key().decode() for _number in range(2)]
    with pytest.raises(CommandError, match="DESK_CREDENTIAL_KEYS"):
        call_command("rotate_keys", "credentials")
    settings.CREDENTIAL_KEYS = keys[:1]
    call_command("rotate_keys", "credentials")
    settings.CREDENTIAL_KEYS = [keys[1], keys[0]]
    call_command("rotate_keys", "credentials")
    settings.CREDENTIAL_KEYS, settings.SECRET_KEY = keys[1:], "another"
    assert Node.objects.get().private_key == "PRIVATE"
    settings.CREDENTIAL_KEYS = keys[:1]
    with pytest.raises(InvalidToken):
        Node.objects.get()


def test_the_audit_log_is_sealed_under_a_new_key(settings, tmp_path):
    call_command("rotate_keys", "audit")
    settings.AUDIT_KEY = (tmp_path / "audit-key").read_text()
    assert list(audit_log.findings()) == []
    assert AuditEntry.objects.latest("pk").action == "audit.reseal"
    settings.AUDIT_KEY = "old audit key"
    assert next(audit_log.findings()).problem == "seal"


def test_a_log_that_is_not_good_is_not_sealed_anew(settings, tmp_path):
    AuditEntry.objects.filter(pk=2).update(action="stage.pass")
    seals = list(AuditEntry.objects.values_list("seal", flat=True))
    with pytest.raises(CommandError, match="entry 2: changed"):
        call_command("rotate_keys", "audit", language="en")
    assert list(AuditEntry.objects.values_list("seal", flat=True)) == seals
    assert Path(tmp_path / "audit-key").read_text() == "old audit key"


def test_not_while_a_worker_runs():
    heartbeat._written_at = 0
    heartbeat.worker_did_a_task()
    with pytest.raises(CommandError, match="worker is running"):
        call_command("rotate_keys", "secret", language="en")
