"""Heads of the audit log outside of the database: what nobody takes back who has it alone."""

import io
import json
from datetime import timedelta

import pytest
from asn1crypto import cms
from django.core import mail
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.utils import timezone

from bundle_verifier.log_extract import entry_hash, tree_root
from bundle_verifier.signatures.seal_validation import check_detached
from delivery.acceptance.signing.seals.unavailable import SealUnavailableError
from delivery.notices.models import Channel, Dispatch
from delivery.notices.transport.send_dispatches import send_mail_to
from delivery.operation import audit_heads, diagnosis
from engagements.audit import audit_log, checkpoint, published_heads
from engagements.models import AuditChain, AuditEntry, Role
from tests.delivery.acceptance.signing.local_authorities import Certifier, answering
from tests.engagements.audit.test_chain_end import cut

pytestmark = pytest.mark.django_db
FOLDER = published_heads.FOLDER


@pytest.fixture
def append(engagement, people):
    def record(action="engagement.update") -> AuditEntry:
        return audit_log.record(actor=people[Role.MANAGER], action=action, target=engagement)

    for _time in range(3):
        record()
    return record


def publish(days: int = 0) -> int:
    return audit_heads.publish_head(now=timezone.now() + timedelta(days=days))


def verify(**options) -> tuple[bool, str]:
    out = io.StringIO()
    try:
        call_command("verify", audit=True, language="en", stdout=out, **options)
    except CommandError:
        return False, out.getvalue()
    return True, out.getvalue()


def older_state(number: int) -> None:
    """The database of then, its end's seal with it, and the machine's own record of then."""
    AuditEntry.objects.filter(pk__gt=number).delete()
    last = AuditEntry.objects.get(pk=number)
    chain = AuditChain.objects.get()
    chain.number, chain.head, chain.seal = number, last.entry_hash, last.seal
    audit_log.seal_end(chain)
    chain.save()
    checkpoint.begin_anew(None)


def test_a_head_goes_to_the_store_to_auditors_and_to_webhooks(append, people):
    auditor = people[Role.AUDITOR]
    auditor.email = "auditor@example.org"
    auditor.save()
    channel = Channel.objects.create(name="witness", kind="webhook", url="https://w.example/",
                                     kinds=["audit_head"])
    last = append()
    assert publish() == 1
    stored = json.loads(default_storage.open(f"{FOLDER}/audit-head-{last.pk}.json").read())
    entry = AuditEntry.objects.latest("pk")
    seen = AuditEntry.objects.get(pk=stored["number"])
    assert (entry.action, entry.data["hash"], stored["hash"]) == (
        "audit.head", seen.entry_hash, seen.entry_hash)
    told = f"{stored['number']} {stored['hash']}"
    assert {row.event.about for row in Dispatch.objects.filter(
        event__kind="audit_head")} == {told}
    assert {(row.recipient, row.channel) for row in Dispatch.objects.filter(
        event__kind="audit_head")} == {(auditor, None), (None, channel)}
    send_mail_to(auditor.pk)
    assert told in mail.outbox[0].body
    assert verify(head=[told.replace(" ", ":")])[0]
    assert not verify(head=[f"{stored['number']}:{'0' * 64}"])[0]
    leaves = dict(enumerate(AuditEntry.objects.filter(pk__lte=stored["number"]).order_by("pk")
                            .values_list("entry_hash", flat=True)))
    assert tree_root(stored["number"], leaves, None) == stored["root"]


def test_it_is_published_once_a_day_and_where_something_was_written(append, settings):
    assert [publish(), publish(), publish(days=2)] == [1, 0, 0]
    append()
    assert [publish(), publish(days=2)] == [0, 1]
    append()
    settings.AUDIT_HEAD_HOURS = 0
    assert publish(days=9) == 0


def test_an_older_state_of_the_database_is_told_by_the_store_alone(append):
    publish()
    older_state(2)
    is_good, text = verify()
    assert not is_good
    assert "is not in the log" in text
    [found] = diagnosis.audit()
    assert found.state == diagnosis.BAD
    append()
    publish(days=2)
    entry = AuditEntry.objects.latest("pk")
    assert (entry.action, entry.data["problem"]) == ("audit.fault", "replaced")
    assert len(list(published_heads.stored())) == 1


def test_what_a_restore_lost_is_named_and_answered_for(append, people):
    publish()
    older_state(2)
    audit_log.record(actor=None, action=published_heads.RESTORED, target=AuditChain.objects.get())
    is_good, text = verify()
    assert (is_good, "was lost when an older backup was restored" in text) == (True, True)


def test_a_cut_log_is_not_published(append):
    append()
    checkpoint.keep(checkpoint.end())
    cut(3)
    assert publish() == 0
    assert AuditEntry.objects.latest("pk").action == "audit.fault"
    assert list(published_heads.stored()) == []


@pytest.mark.slow
def test_the_firm_signs_it_and_an_authority_stamps_it(append, settings, tmp_path):
    settings.SIGNING_TIMESTAMP_URL = "http://127.0.0.1:9/"
    with pytest.raises(SealUnavailableError):
        publish()
    assert list(published_heads.stored()) == []
    with answering(crl=lambda: b"") as url:
        certifier = Certifier(tmp_path, list_url=url)
        with answering(certifier.stamper()) as settings.SIGNING_TIMESTAMP_URL:
            publish()
            [head] = published_heads.stored()
            name = f"{FOLDER}/audit-head-{head.number}.json"
            token = cms.ContentInfo.load(default_storage.open(f"{name}.tst").read())
            assert token["content"]["encap_content_info"]["content_type"].native == "tst_info"
            settings.SIGNING_KEY = str(tmp_path / "firm.p12")
            settings.SIGNING_KEY_PASSWORD = "test"
            append()
            publish(days=2)
    newest = next(published_heads.stored())
    name = f"{FOLDER}/audit-head-{newest.number}.json"
    found = check_detached(default_storage.open(name).read(),
                           default_storage.open(f"{name}.p7s").read())
    assert found.stamped_at is not None


def test_times_that_run_backwards_are_named(append, monkeypatch):
    assert "before that of an earlier one" not in verify()[1]
    earlier = timezone.now() - timedelta(hours=3)
    monkeypatch.setattr(audit_log.timezone, "now", lambda: earlier)
    entry = append()
    monkeypatch.undo()
    is_good, text = verify()
    assert is_good
    assert f"at entry {entry.pk}: clocks differ" in text


def test_files_are_read_or_it_is_said_that_they_were_not(append):
    assert "Stored files were not read, and never all of them before" in verify()[1]
    assert "stored files were read and are what their rows say" in verify(files=True)[1]
    assert "were last read by" in verify()[1]


def test_the_hash_outside_is_the_log_s_own(append):
    entry = append()
    assert entry_hash({**audit_log.entry_facts(entry),
                       "previous_hash": entry.previous_hash}) == entry.entry_hash
